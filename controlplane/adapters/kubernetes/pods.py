"""A pod as the fleet's replica: lane, phase, stage and what is wrong with it."""

import msgspec

from controlplane.adapters.kubernetes.pod_shape import Pod
from controlplane.domain.quantities import ClassName, ModelName, NodeName, ReplicaName, Zone
from controlplane.domain.replicas import Lane, Phase, Replica, Stage
from controlplane.domain.samples import NOT_YET
from controlplane.ports import EngineState


class Spot(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a pod stands, in the fleet's words."""

    node_class: ClassName
    node: NodeName | None = None
    zone: Zone | None = None
    resource: str = ""  # what its class counts
    answers: bool = True  # its node does
    gone: bool = False  # its node is no more


_LANES = {str(lane): lane for lane in Lane}
_ENDED = ("Succeeded", "Failed")


def lane_of(pod: Pod) -> Lane:
    """Give the lane; a pod without the label, or with a word that is none, is loading."""
    return _LANES.get(pod.lane, Lane.LOADING)


def phase_of(pod: Pod) -> Phase:
    """Give the phase. A server that came to its end by itself has failed, whatever it said."""
    if pod.phase in _ENDED:
        return Phase.FAILED
    if pod.terminating:
        return Phase.TERMINATING
    return Phase.PENDING if pod.phase == "Pending" else Phase.RUNNING


def replica(pod: Pod, spot: Spot, state: EngineState | None) -> Replica:
    """Give the replica a pod is, on the node it stands on, with what its engine said last."""
    lane, up = lane_of(pod), pod.started != ""
    healthy = state is not None and state.healthy and up
    warmed = up and (pod.warmed_up == pod.started or (state is not None and state.warmed_up))
    return Replica(
        name=ReplicaName(pod.name),
        model=ModelName(pod.model),
        node_class=spot.node_class,
        lane=lane,
        phase=phase_of(pod),
        stage=_stage(pod, healthy=healthy, warmed=warmed),
        created_at=pod.created_at,
        node=spot.node,
        zone=spot.zone,
        node_ready=spot.answers,
        healthy=healthy,
        ready=pod.ready,
        warmed_up=warmed,
        warming_up=state is not None and state.warming_up,
        sleeping=pod.sleeping if state is None else state.sleeping,
        lent_slots=pod.lent_slots,
        lane_since=pod.lane_since if pod.lane_since is not None else pod.created_at,
        in_flight=NOT_YET if state is None else state.in_flight,
        unschedulable_since=pod.unschedulable_since,
        note=_note(pod, spot, state),
        stuck=pod.stuck and phase_of(pod) in (Phase.PENDING, Phase.RUNNING),
        devices=pod.devices.get(spot.resource, 0),
        version=pod.version,
    )


def _stage(pod: Pod, *, healthy: bool, warmed: bool) -> Stage:
    if not pod.node:
        return Stage.UNSCHEDULED
    if not pod.started:
        return Stage.PULLING if pod.pulling else Stage.LOADING_MODEL
    if not healthy:
        return Stage.LOADING_MODEL
    return Stage.UP if warmed else Stage.WARMING_UP


def _note(pod: Pod, spot: Spot, state: EngineState | None) -> str:
    """Say the worst that is known: the node, the pod, then the engine."""
    if not spot.answers:
        return f"node {pod.node} is {'gone' if spot.gone else 'silent'}"
    if pod.note:
        return pod.note
    if state is None:
        return ""
    return state.note or ("" if state.healthy else state.why)
