"""The labels and annotations by which pods say what they are: one spelling for all who use them.

The lane label stands in the Service's selector and never in a Deployment's: flipping it moves
traffic and never ownership. Its absence means `loading`.
"""

PREFIX = "controlplane.dev/"

MODEL = PREFIX + "model"  # label: the catalogue's name
CLASS = PREFIX + "class"  # label: the node class of the variant
LANE = PREFIX + "lane"  # label: warm, serving or draining

LANE_SINCE = PREFIX + "lane-since"  # annotation: unix seconds
WARMED_UP = PREFIX + "warmed-up"  # annotation: the container start it holds for
LENT_SLOTS = PREFIX + "lent-slots"  # annotation: slots a lending spare gives to low
SLEEPING = PREFIX + "sleeping"  # annotation: "true" while the engine sleeps
MANAGED_BY = PREFIX + "managed-by"  # annotation of a Deployment

MANAGER = "controlplane"  # field manager, and the value of MANAGED_BY
CONTAINER = "engine"  # the container that answers
