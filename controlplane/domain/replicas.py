"""A replica is one pod of a variant, and the lane it is in.

    created -> loading -> warm -> serving -> draining -> deleted
                            ^________________|  (only before it drains)

`loading` until its health adapter says ready AND its warm-up batch succeeded (law 7), `warm` until
it is promoted, `serving` while the Service selects it, `draining` from the unlabel to the deletion.
The lane is a label of the pod; a pod without the label is loading.
"""

from enum import StrEnum

import msgspec

from controlplane.domain.quantities import (
    ClassName,
    Instant,
    ModelName,
    NodeName,
    ReplicaName,
    Zone,
)
from controlplane.domain.samples import NOT_YET, Sample


class Lane(StrEnum):
    """Where in its life a replica stands, seen from the traffic."""

    LOADING = "loading"
    WARM = "warm"
    SERVING = "serving"
    DRAINING = "draining"


class Phase(StrEnum):
    """What the cluster says about the pod."""

    PENDING = "Pending"
    RUNNING = "Running"
    FAILED = "Failed"
    TERMINATING = "Terminating"


class Stage(StrEnum):
    """What a loading replica is busy with; shown to people and used for nothing else."""

    UNSCHEDULED = "Unscheduled"
    PULLING = "Pulling"
    LOADING_MODEL = "LoadingModel"
    WARMING_UP = "WarmingUp"
    UP = "Up"


# Every cycle asks these of every replica, and Python 3.11 looks enum members up slowly.
_LOADING, _WARM, _SERVING = Lane.LOADING, Lane.WARM, Lane.SERVING
_UP = frozenset((Phase.PENDING, Phase.RUNNING))


class Replica(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One pod as it was seen. Thousands live long and refer to nothing that refers to them."""

    name: ReplicaName
    model: ModelName
    node_class: ClassName
    lane: Lane
    phase: Phase
    stage: Stage
    created_at: Instant
    node: NodeName | None = None
    zone: Zone | None = None
    node_ready: bool = True  # False: the node is silent; the pod may still say Running
    healthy: bool = False  # the health adapter says ready
    ready: bool = True  # the kubelet says so too: as an endpoint it would get requests at once
    warmed_up: bool = False  # the warm-up batch succeeded
    warming_up: bool = False  # a warm-up batch is under way
    sleeping: bool = False
    lent_slots: int = 0  # slots a lending spare gives to low
    lane_since: Instant
    in_flight: Sample = NOT_YET
    unschedulable_since: Instant | None = None
    note: str = ""  # e.g. "0/9 nodes fit: 9 have too few free devices", "OOMKilled"
    stuck: bool = False  # its container does not come up or keeps ending; the note says why
    devices: int = 0  # held as the pod itself says; 0: it was not asked
    outdated: bool = False  # made of a template that the catalogue has changed since
    version: int = 0  # the pod's resourceVersion: precondition of every flip

    @property
    def promotable(self) -> bool:
        """Warm, awake or not, on a node that answers: it can be in service in seconds."""
        return self.lane is _WARM and self.warmed_up and self.present

    @property
    def serving(self) -> bool:
        """In service: selected by the Service and on a node that answers."""
        return self.lane is _SERVING and self.present

    @property
    def loading(self) -> bool:
        """On its way up, wherever it stands."""
        return self.lane is _LOADING and self.present

    @property
    def present(self) -> bool:
        """Neither terminating, failed, nor on a silent node."""
        return self.node_ready and self.phase in _UP
