"""What is written on Kubernetes objects: labels, annotations, and the names we write under.

Labels are what is selected by, so they are few: model and class select a variant's Deployment,
model and lane its Service. The lane is in no Deployment's selector: a flip never changes who owns a
pod. Everything else is an annotation. A name that was once given stays: running pods carry it.
"""

PREFIX = "controlplane.dev/"

# labels
MODEL = PREFIX + "model"
CLASS = PREFIX + "class"
LANE = PREFIX + "lane"  # a pod without it is loading
PRE_PULL = PREFIX + "pre-pull"  # of pods that bring a class's images to its nodes: the class

# annotations of pods
LANE_SINCE = PREFIX + "lane-since"  # unix seconds
WARMED_UP = PREFIX + "warmed-up"  # the start of the container it holds for (EngineAt.started)
LENT_SLOTS = PREFIX + "lent-slots"
SLEEPING = PREFIX + "sleeping"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"

# annotations of Deployments and what belongs to them
MANAGED_BY = PREFIX + "managed-by"
RENDERED = PREFIX + "rendered"  # a digest of what the catalogue said of the object
ADOPTED_FROM = PREFIX + "adopted-from"  # what stood there before, as JSON: undoing restores it
IMPORTED_FROM = PREFIX + "imported-from"  # the ScaledObject or HPA that sized it, as JSON

MANAGER = "controlplane"  # field manager, and the value of MANAGED_BY
CONTAINER = "engine"
LEASE = "controlplane"
