"""The patches that put a pod into a lane, or note something on it.

With the lane goes the cost of deleting the pod, so that whoever shrinks the Deployment, we or a
rollout, takes from the spares before it takes from the service.
"""

from controlplane.domain import marks
from controlplane.domain.quantities import Instant
from controlplane.domain.replicas import Lane
from controlplane.render.naming import Manifest

COSTS = {Lane.SERVING: 1000, Lane.WARM: 100, Lane.LOADING: 0, Lane.DRAINING: -100}
VICTIM_COST = -1000
KEPT_COST = 10  # of a pod on its way up that must not go instead of a victim


def flip(version: int, lane: Lane, now: Instant, warmed_up: str | None = None) -> Manifest:
    """Give the merge patch that puts a pod into a lane, if it still has this version.

    That it is warmed up, since this start of its container, is noted by the same write: a daemon
    that starts anew need not send the batch again.
    """
    notes: dict[str, str | None] = {
        marks.LANE_SINCE: f"{now:.3f}",
        marks.DELETION_COST: str(COSTS[lane]),
    }
    if warmed_up is not None:
        notes[marks.WARMED_UP] = warmed_up
    if lane is not Lane.WARM:
        notes[marks.LENT_SLOTS] = notes[marks.SLEEPING] = None
    return {
        "metadata": {
            "resourceVersion": str(version),
            "labels": {marks.LANE: None if lane is Lane.LOADING else lane.value},
            "annotations": notes,
        }
    }


def note(annotation: str, value: str | None) -> Manifest:
    """Give the merge patch that writes, or takes away, one annotation."""
    return {"metadata": {"annotations": {annotation: value}}}
