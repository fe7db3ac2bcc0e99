"""What is written on Kubernetes objects: labels, annotations, and the names we write under.

Labels are what is selected by, so they are few: model and class select a variant's Deployment,
model and lane its Service. The lane is in no Deployment's selector: a flip never changes who owns a
pod. Everything else is an annotation. A name that was once given stays: running pods carry it.
"""

PREFIX = "controlplane.dev"

# labels
MODEL = f"{PREFIX}/model"
NODE_CLASS = f"{PREFIX}/class"
LANE = f"{PREFIX}/lane"  # a pod without it is loading

# annotations of pods
LANE_SINCE = f"{PREFIX}/lane-since"  # unix seconds
WARMED_UP = f"{PREFIX}/warmed-up"  # the start of the container it holds for (EngineAt.started)
LENT_SLOTS = f"{PREFIX}/lent-slots"
SLEEPING = f"{PREFIX}/sleeping"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"

# annotations of Deployments and what belongs to them
MANAGED_BY = f"{PREFIX}/managed-by"
ADOPTED_FROM = f"{PREFIX}/adopted-from"  # what stood there before, as JSON: `adopt --undo` restores

OURS = "controlplane"  # the value of MANAGED_BY
FIELD_MANAGER = "controlplane"
CONTAINER = "engine"
LEASE = "controlplane"
