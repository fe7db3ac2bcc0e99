"""A pod's lane and its state beside it: flipped only if the pod is still as it was seen (R5).

The lane is one label, so a pod is never in two. Its resourceVersion is the condition of every flip:
whoever else wrote the pod meanwhile wins, and the next cycle looks again.
"""

from controlplane.adapters.kubernetes.fencing import refused
from controlplane.adapters.kubernetes.pod_shape import Pod
from controlplane.adapters.kubernetes.scope import Scope
from controlplane.domain import marks
from controlplane.domain.actions import Lend, SetLane
from controlplane.domain.decisions import DONE, Outcome
from controlplane.domain.quantities import Instant, ReplicaName
from controlplane.domain.replicas import Lane
from controlplane.ports import Engines, EngineState
from controlplane.render.lane import flip, note

_UP = (Lane.WARM, Lane.SERVING)


async def set_lane(scope: Scope, engines: Engines, action: SetLane, now: Instant) -> Outcome:
    """Flip a lane."""
    pod = scope.pod(action.replica)
    if pod is None or pod.terminating:
        return refused(f"{action.replica} does not exist")
    if pod.lane == action.lane.value:
        return DONE
    no = _against(pod, action) or (_unfit(pod, engines, action.lane) if action.lane in _UP else "")
    if no:
        return refused(no)
    started = pod.started if action.lane in _UP else None
    await scope.write_pod(action.replica, flip(pod.version, action.lane, now, started))
    return DONE


async def lend(scope: Scope, action: Lend) -> Outcome:
    """Say on a warm pod how many of its slots low may use."""
    pod = scope.pod(action.replica)
    if pod is None or pod.terminating or pod.lane != Lane.WARM.value:
        return refused(f"{action.replica} is not warm")
    slots = str(action.slots) if action.slots else None
    await scope.write_pod(action.replica, note(marks.LENT_SLOTS, slots))
    return DONE


async def mark_asleep(scope: Scope, replica: ReplicaName, *, asleep: bool) -> None:
    """Say on a pod whether its engine sleeps."""
    await scope.write_pod(replica, note(marks.SLEEPING, "true" if asleep else None))


def _against(pod: Pod, action: SetLane) -> str:
    """Say why the label may not be flipped; nothing when it may."""
    if pod.version != action.version:
        return f"{pod.name} is at version {pod.version}, not {action.version}"
    if pod.lane == Lane.DRAINING.value:
        return f"{pod.name} drains and comes back to no lane"
    return ""


def _unfit(pod: Pod, engines: Engines, lane: Lane) -> str:
    """Say why it is not warm, or may not serve: traffic only after a real answer (law 7)."""
    state = engines.state(ReplicaName(pod.name))
    warmed = pod.warmed_up == pod.started or (state is not None and state.warmed_up)
    if not pod.started or not warmed:
        return f"{pod.name} has not answered its warm-up batch since its container started"
    return "" if lane is Lane.WARM else _silent(pod, state)


def _silent(pod: Pod, state: EngineState | None) -> str:
    """Say why it would answer no request now."""
    if pod.sleeping or (state is not None and state.sleeping):
        return f"{pod.name} is asleep"
    if state is None:
        return f"the engine of {pod.name} has not answered yet"
    if not state.healthy:
        return f"the engine of {pod.name} is not healthy: {state.why or 'no reason given'}"
    if not pod.ready:
        return f"{pod.name} is not Ready: its readiness probe has not succeeded"
    return ""
