"""A small fleet to be billed: two A100 nodes and a T4 node, three models, two teams."""

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal

import msgspec

from controlplane.decide.costs.bill import bill
from controlplane.domain.catalogue import Catalogue, Model, Need, NodeClass, Runtime
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.quantities import ClassName, ModelName, NodeName, ReplicaName, Team, Zone
from controlplane.domain.replicas import Lane, Phase, Replica, Stage
from controlplane.domain.samples import NoData

A100, T4 = ClassName("A100-80G"), ClassName("T4")
CHAT, VISION, SPEECH = ModelName("chat"), ModelName("vision"), ModelName("speech")
TEN = 1_764_410_400.0  # a ten o'clock UTC
MINUTE = 60.0
DEVICES_OF: Mapping[tuple[ModelName, ClassName], int] = {
    (CHAT, A100): 2,
    (VISION, A100): 1,
    (VISION, T4): 1,
    (SPEECH, A100): 1,
}
NODES = (
    Node(name=NodeName("a1"), node_class=A100, zone=Zone("north"), devices=4),
    Node(name=NodeName("a2"), node_class=A100, zone=Zone("south"), devices=4),
    Node(name=NodeName("t1"), node_class=T4, zone=Zone("north"), devices=1),
)


def a_class(price: str, vram: float, resource: str = "nvidia.com/gpu") -> NodeClass:
    return NodeClass(
        vendor="nvidia",
        resource=resource,
        vram_gib=vram,
        price_per_hour=Decimal(price),
        runtime=Runtime(kind="cuda", version="12.8"),
    )


def a_model(team: str, gib: float) -> Model:
    return Model(team=Team(team), need=Need(vram_gib=gib), variants={})


def a_catalogue(a100: str = "3.43", t4: str = "0.526", egress: float = 0.0) -> Catalogue:
    return Catalogue(
        node_classes={A100: a_class(a100, 80.0), T4: a_class(t4, 16.0)},
        models={CHAT: a_model("talk", 140), VISION: a_model("see", 8), SPEECH: a_model("see", 20)},
        egress_gib_per_request=egress,
    )


def a_replica(
    name: str,
    model: ModelName = CHAT,
    node: str | None = "a1",
    lane: Lane = Lane.SERVING,
    created_at: float = 0.0,
    **more: object,
) -> Replica:
    zone = next((n.zone for n in NODES if n.name == node), None)
    made = Replica(
        name=ReplicaName(name),
        model=model,
        node_class=T4 if node == "t1" else A100,
        lane=lane,
        phase=Phase.RUNNING,
        stage=Stage.UP,
        created_at=created_at,
        node=NodeName(node) if node else None,
        zone=zone,
        lane_since=0.0,
    )
    return msgspec.structs.replace(made, **more)


def a_view(
    *replicas: Replica, at: float = TEN, nodes: tuple[Node, ...] | NoData = NODES
) -> FleetView:
    return FleetView(at=at, nodes=nodes, replicas=replicas)


def assert_adds_up(rows: Iterable[LedgerRow]) -> None:
    """Law 8, for every device and interval, and no row twice."""
    listed = list(rows)
    paid: Counter[tuple[NodeName, int, float, float, int]] = Counter()
    for row in listed:
        if row.kind is not LineKind.CROSS_ZONE:
            paid[row.node, row.device, row.start, row.end, row.price_micros_per_hour] += row.micros
    identities = [(r.node, r.device, r.start, r.kind, r.model) for r in listed]

    assert len(set(identities)) == len(identities)
    for (_, _, start, end, price), micros in paid.items():
        assert micros == bill(price, start, end)


def paid_by_kind(rows: Iterable[LedgerRow]) -> dict[tuple[LineKind, ModelName | None], int]:
    sums: Counter[tuple[LineKind, ModelName | None]] = Counter()
    for row in rows:
        sums[row.kind, row.model] += row.micros
    return dict(sums)
