"""Nodes and replicas of the painted fleet, as an on-call engineer might find them."""

from collections.abc import Sequence

from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.quantities import ClassName, ModelName, NodeName, ReplicaName, Zone
from controlplane.domain.replicas import Lane, Phase, Replica, Stage
from controlplane.domain.samples import Value, Zero

NOW = 1_796_040_271.0  # 2026-11-30 12:04:31 UTC

# model, class, node, lane -> replicas
PLACED: Sequence[tuple[str, str, str, str, int]] = (
    ("chat-70b", "A100-80G", "a100-80g-a-0", "serving", 2),
    ("chat-70b", "A100-80G", "a100-80g-b-0", "loading", 1),
    ("chat-70b", "Ascend-910B3", "ascend-910b3-b-0", "serving", 1),
    ("sdxl-ft", "A100-80G", "a100-80g-b-0", "serving", 1),
    ("sdxl", "A100-80G", "a100-80g-b-0", "serving", 2),
    ("whisper-l3", "T4", "t4-a-0", "serving", 2),
    ("resnet-152", "T4", "t4-a-0", "serving", 1),
    ("support-ft", "T4", "t4-a-1", "serving", 3),
    ("support-ft", "T4", "t4-a-1", "warm", 1),
    ("whisper-l3", "T4", "t4-a-2", "draining", 1),
    ("resnet-152", "T4", "t4-a-2", "serving", 1),
    ("resnet-152", "T4", "t4-a-2", "warm", 1),
    ("legal-ft", "T4", "t4-b-0", "serving", 2),
    ("legal-ft", "T4", "t4-b-0", "sleeping", 1),
    ("chat-70b", "A100-80G", "", "pending", 1),
)
NODES = (
    ("a100-80g-a-0", "A100-80G", "zone-a", 8),
    ("a100-80g-b-0", "A100-80G", "zone-b", 8),
    ("t4-a-0", "T4", "zone-a", 4),
    ("t4-a-1", "T4", "zone-a", 4),
    ("t4-a-2", "T4", "zone-a", 4),
    ("t4-b-0", "T4", "zone-b", 4),
    ("t4-b-1", "T4", "zone-b", 4),
    ("ascend-910b3-b-0", "Ascend-910B3", "zone-b", 8),
)
LANES = {"pending": Lane.LOADING, "sleeping": Lane.WARM}


def view(at: float) -> FleetView:
    """Paint nodes and replicas."""
    nodes = tuple(
        Node(name=NodeName(name), node_class=ClassName(kind), zone=Zone(zone), devices=count)
        for name, kind, zone, count in NODES
    )
    zones = {node.name: node.zone for node in nodes}
    replicas: list[Replica] = []
    for model, kind, node, lane, count in PLACED:
        for index in range(count):
            number_of = len(replicas)
            stuck = lane == "pending"
            coming = lane in ("loading", "pending")
            replicas.append(
                Replica(
                    name=ReplicaName(f"{model}-{kind.lower()[:4]}-{number_of:02d}{index}"),
                    model=ModelName(model),
                    node_class=ClassName(kind),
                    lane=Lane.LOADING
                    if coming
                    else Lane.WARM
                    if lane == "sleeping"
                    else Lane(lane),
                    phase=Phase.PENDING if coming else Phase.RUNNING,
                    stage=Stage.UNSCHEDULED
                    if stuck
                    else Stage.LOADING_MODEL
                    if coming
                    else Stage.UP,
                    created_at=NOW - 4000 + number_of * 60 if not coming else NOW - 38,
                    node=NodeName(node) if node else None,
                    zone=zones.get(NodeName(node)),
                    healthy=not coming,
                    warmed_up=not coming,
                    sleeping=lane == "sleeping",
                    lane_since=NOW - 1200 + number_of * 20 if not coming else NOW - 38,
                    in_flight=Zero(at) if lane != "serving" else Value(3.0 + index, at),
                    unschedulable_since=NOW - 34 if stuck else None,
                    note="0/8 nodes fit: 2 have too few free A100-80G" if stuck else "",
                )
            )
    return FleetView(at=at, nodes=nodes, replicas=tuple(replicas))
