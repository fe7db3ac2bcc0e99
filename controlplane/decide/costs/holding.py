"""Who holds which device, as one look at the cluster shows it.

A cluster says on which node a pod runs, not on which device. Replicas are given devices oldest
first, the lowest free ones, and keep them as long as they are there, so a ledger does not move a
model from card to card because its neighbour left. A replica that finds no free device (sleeping
replicas share theirs) sits on the devices with the most memory left.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import Node
from controlplane.domain.ledger import LineKind
from controlplane.domain.quantities import ClassName, ModelName, NodeName, ReplicaName, Zone
from controlplane.domain.replicas import Lane, Phase, Replica

DevicesOf: TypeAlias = Mapping[tuple[ModelName, ClassName], int]

_KINDS = {
    Lane.LOADING: LineKind.LOADING,
    Lane.WARM: LineKind.WARM,
    Lane.SERVING: LineKind.SERVING,
    Lane.DRAINING: LineKind.DRAINING,
}


class Holder(msgspec.Struct, frozen=True, array_like=True):
    """A replica and the devices it holds."""

    replica: ReplicaName
    model: ModelName
    kind: LineKind
    devices: tuple[int, ...]
    vram: float  # share of each device's memory that is reserved for it


class Holding(msgspec.Struct, frozen=True, array_like=True):
    """A node, its devices and who holds them."""

    node: NodeName
    node_class: ClassName
    zone: Zone
    devices: int
    holders: tuple[Holder, ...] = ()


def hold(
    nodes: Iterable[Node],
    replicas: Iterable[Replica],
    catalogue: Catalogue,
    devices_of: DevicesOf,
    before: Mapping[NodeName, Holding],
) -> tuple[Holding, ...]:
    """Give every node's holders. A node that is silent is still paid for, and so are its pods."""
    on_node: dict[NodeName, list[Replica]] = {}
    for replica in replicas:
        if replica.node is not None and replica.phase is not Phase.FAILED:
            on_node.setdefault(replica.node, []).append(replica)
    return tuple(
        _hold_node(node, on_node.get(node.name, []), catalogue, devices_of, before.get(node.name))
        for node in nodes
    )


def _hold_node(
    node: Node,
    replicas: list[Replica],
    catalogue: Catalogue,
    devices_of: DevicesOf,
    before: Holding | None,
) -> Holding:
    if not replicas or not node.devices:
        return Holding(node.name, node.node_class, node.zone, node.devices)
    kept = {h.replica: h.devices for h in before.holders} if before is not None else {}
    bench = _Bench(node.devices)
    holders = []
    for replica in sorted(replicas, key=lambda r: (r.name not in kept, r.created_at, r.name)):
        count = min(node.devices, devices_of.get((replica.model, replica.node_class), 1))
        vram = _reserved(replica, count, catalogue)
        devices = bench.seat(count, vram, kept.get(replica.name, ()))
        holders.append(Holder(replica.name, replica.model, _kind(replica), devices, vram))
    return Holding(node.name, node.node_class, node.zone, node.devices, tuple(holders))


class _Bench:
    """The devices of one node while they are given away."""

    def __init__(self, devices: int) -> None:
        self._reserved = [0.0] * devices
        self._holders = [0] * devices

    def seat(self, count: int, vram: float, kept: tuple[int, ...]) -> tuple[int, ...]:
        """Give the devices kept, if they are still there, else the emptiest, lowest first."""
        chosen = kept
        if len(kept) != count or kept[-1] >= len(self._reserved):
            by_room = sorted(
                range(len(self._reserved)), key=lambda i: (self._holders[i] > 0, self._reserved[i])
            )
            chosen = tuple(sorted(by_room[:count]))
        for device in chosen:
            self._reserved[device] += vram
            self._holders[device] += 1
        return chosen


def _kind(replica: Replica) -> LineKind:
    if replica.phase is Phase.TERMINATING:
        return LineKind.DRAINING
    return _KINDS[replica.lane]


def _reserved(replica: Replica, devices: int, catalogue: Catalogue) -> float:
    """Give the share of a device's memory that was declared for the replica, asleep or awake."""
    model = catalogue.models.get(replica.model)
    node_class = catalogue.node_classes.get(replica.node_class)
    if model is None or node_class is None:
        return 1.0
    return min(1.0, model.need.gib / devices / node_class.vram_gib)
