"""What an operator may do to a pod that is up: warm it, flip its lane, lend it, put it to sleep.

The cluster refuses what a real one would: an unknown pod, a stale version, a label on a pod that
drains. It also keeps traffic from an engine that has never generated, as a readiness probe does.
"""

from typing import TypeAlias

from controlplane.domain.actions import Lend, SetLane, Sleep, Wake, WarmUp
from controlplane.domain.decisions import DONE, Ending, Outcome
from controlplane.domain.replicas import Lane, Stage
from controlplane.simulation.world.cluster import Cluster
from controlplane.simulation.world.engines import batch_s
from controlplane.simulation.world.news import News
from controlplane.simulation.world.pods import Pod

OnPod: TypeAlias = SetLane | WarmUp | Lend | Sleep | Wake

WAKE_SHARE = 0.1  # waking brings weights from host memory: a tenth of loading them


def refused(note: str) -> Outcome:
    """Say no, and why."""
    return Outcome(Ending.REFUSED, note)


def apply(cluster: Cluster, action: OnPod) -> Outcome:
    """Carry out an action on a pod."""
    pod = cluster.pods.get(action.replica)
    if pod is None or not pod.alive:
        return refused(f"{action.replica} does not exist")
    match action:
        case SetLane():
            return _set_lane(cluster, pod, action)
        case WarmUp():
            return _warm_up(cluster, pod, action.requests)
        case Lend():
            return _lend(cluster, pod, action.slots)
        case Sleep():
            return _sleep(cluster, pod)
        case Wake():
            return _wake(cluster, pod)


def _warm_up(cluster: Cluster, pod: Pod, requests: int) -> Outcome:
    """Send a batch of requests; the pod is warm when all are answered."""
    if not pod.healthy or pod.sleeping:
        return refused(f"{pod.name} does not answer yet")
    if pod.warmed_up or pod.warming_up:
        return DONE
    pod.warming_up, pod.stage = True, Stage.WARMING_UP
    pod.version += 1
    if pod.hangs:
        return DONE  # the batch never ends (R2)
    given = cluster.spec.warm_up_request_s
    request_s = pod.variant.service_s if given is None else given
    takes = batch_s(requests, pod.engine.answered, pod.variant.slots, request_s)

    def warmed(pod: Pod) -> None:
        if pod.runs:
            pod.engine.answered += requests
            pod.warming_up, pod.warmed_up, pod.stage = False, True, Stage.UP
            pod.version += 1
            cluster.news.add(News.WARM)

    cluster.after(takes, warmed, pod)
    return DONE


def _set_lane(cluster: Cluster, pod: Pod, action: SetLane) -> Outcome:
    """Flip the lane label if the pod is still as it was seen."""
    if action.lane is pod.lane:
        return DONE
    no = _against(pod, action)
    if no:
        return refused(no)
    pod.flip(action.lane, cluster.now)
    if action.lane is Lane.SERVING:
        cluster.after(pod.variant.promote_s, cluster.enter, pod)
        return DONE
    cluster.take_out(pod)
    if action.lane is Lane.DRAINING:
        last = cluster.stations[pod.model].slots.busy_until(pod.engine)
        cluster.after(max(0.0, last - cluster.now), lambda _: cluster.news.add(News.DRAINED), pod)
    return DONE


def _against(pod: Pod, action: SetLane) -> str:
    """Say why a label may not be flipped; nothing when it may."""
    if pod.version != action.version:
        return f"{pod.name} is at version {pod.version}, not {action.version}"
    if pod.lane is Lane.DRAINING:
        return f"{pod.name} drains and comes back to no lane"
    if action.lane is Lane.SERVING and (pod.hangs or pod.sleeping):
        return f"{pod.name} {'is asleep' if pod.sleeping else 'has never generated'}"
    return ""


def _lend(cluster: Cluster, pod: Pod, slots: int) -> Outcome:
    """Give low some slots of a warm replica, or take them back."""
    if pod.lane is not Lane.WARM or not pod.answers:
        return refused(f"{pod.name} is not warm")
    lent = min(slots, pod.variant.slots)
    if lent != pod.lent:
        pod.lent = lent
        cluster.stations[pod.model].place(pod.engine, lent=lent)
    return DONE


def _sleep(cluster: Cluster, pod: Pod) -> Outcome:
    """Put a warm replica to sleep."""
    if pod.sleeping:
        return DONE
    if pod.lane is not Lane.WARM or not pod.answers:
        return refused(f"{pod.name} is not warm")
    cluster.take_out(pod)
    pod.sleeping = True
    pod.version += 1
    return DONE


def _wake(cluster: Cluster, pod: Pod) -> Outcome:
    """Wake a sleeping replica; it answers after a tenth of its load time."""

    def woken(pod: Pod) -> None:
        if pod.sleeping and pod.runs:
            pod.sleeping = False
            pod.version += 1
            cluster.news.add(News.WARM)

    if pod.sleeping:
        cluster.after(WAKE_SHARE * pod.variant.load_s, woken, pod)
    return DONE
