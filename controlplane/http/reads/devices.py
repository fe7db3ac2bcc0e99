"""Which replica sits on which device, and how full it is: the cells of the fleet picture.

The cluster tells a pod's node, not its device, so seats are given in order of age and kept: a cell
does not jump to its neighbour because an older pod left.
"""

from collections.abc import Iterable, Mapping

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.quantities import ClassName, ModelName, NodeName, ReplicaName, micros
from controlplane.domain.replicas import Phase, Replica
from controlplane.domain.samples import NoData
from controlplane.http.reads.shapes.fleet import DeviceCell, NodeRow, PendingRow, PoolRow

DevicesOf = Mapping[tuple[ModelName, ClassName], int]


class Seats:
    """Device indices by replica, kept from one look to the next."""

    def __init__(self) -> None:
        """Start with every device free."""
        self._seats: dict[ReplicaName, tuple[NodeName, tuple[int, ...]]] = {}

    def seat(
        self, node: Node, replicas: Iterable[Replica], devices_of: DevicesOf
    ) -> list[Replica | None]:
        """Give who sits on each device of a node."""
        devices: list[Replica | None] = [None] * node.devices
        standing: list[Replica] = []
        for replica in sorted(replicas, key=lambda r: (r.created_at, r.name)):
            kept = self._seats.get(replica.name)
            if kept is None or kept[0] != node.name or kept[1][-1] >= node.devices:
                standing.append(replica)
                continue
            for index in kept[1]:
                devices[index] = replica
        for replica in standing:
            count = devices_of.get((replica.model, replica.node_class), 1)
            free = [index for index, held in enumerate(devices) if held is None][:count]
            if not free:
                continue
            self._seats[replica.name] = (node.name, tuple(free))
            for index in free:
                devices[index] = replica
        return devices

    def forget(self, present: Iterable[ReplicaName]) -> None:
        """Free the seats of replicas that are gone."""
        names = set(present)
        for gone in [name for name in self._seats if name not in names]:
            del self._seats[gone]


def pools(
    catalogue: Catalogue, view: FleetView, devices_of: DevicesOf, seats: Seats
) -> tuple[PoolRow, ...]:
    """Give every class with its nodes and cells, in the catalogue's order."""
    if isinstance(view.nodes, NoData):
        return ()
    by_node: dict[NodeName, list[Replica]] = {}
    pending: dict[ClassName, list[Replica]] = {}
    for replica in view.replicas:
        if replica.node is None:
            pending.setdefault(replica.node_class, []).append(replica)
        elif replica.phase is not Phase.FAILED:
            by_node.setdefault(replica.node, []).append(replica)
    seats.forget(replica.name for replica in view.replicas)
    by_class: dict[ClassName, list[NodeRow]] = {name: [] for name in catalogue.node_classes}
    for node in view.nodes:
        seated = seats.seat(node, by_node.get(node.name, ()), devices_of)
        cells = tuple(
            _cell(catalogue, node, index, replica, devices_of)
            for index, replica in enumerate(seated)
        )
        row = NodeRow(
            name=node.name,
            zone=node.zone,
            ready=node.ready,
            schedulable=node.schedulable,
            devices=cells,
        )
        by_class.setdefault(node.node_class, []).append(row)
    return tuple(
        _pool(catalogue, name, rows, pending.get(name, ())) for name, rows in by_class.items()
    )


def _cell(
    catalogue: Catalogue, node: Node, index: int, replica: Replica | None, devices_of: DevicesOf
) -> DeviceCell:
    if replica is None:
        return DeviceCell(index=index)
    held = _held_gib(catalogue, replica, devices_of)
    size = catalogue.node_classes.get(node.node_class)
    return DeviceCell(
        index=index,
        model=replica.model,
        replica=replica.name,
        lane=str(replica.lane),
        stage=str(replica.stage),
        fill=min(1.0, held / size.vram_gib) if size else 0.0,
        held_gib=held,
        sleeping=replica.sleeping,
        lost=not replica.node_ready,
    )


def _held_gib(catalogue: Catalogue, replica: Replica, devices_of: DevicesOf) -> float:
    """Give the memory one of its devices holds for it; asleep, the weights are off the device."""
    model = catalogue.models.get(replica.model)
    if model is None or replica.sleeping:
        return 0.0
    return model.need.gib / devices_of.get((replica.model, replica.node_class), 1)


def _pool(
    catalogue: Catalogue, name: ClassName, nodes: list[NodeRow], pending: Iterable[Replica]
) -> PoolRow:
    size = catalogue.node_classes.get(name)
    cells = [cell for node in nodes for cell in node.devices]
    held = [cell for cell in cells if cell.model is not None]
    return PoolRow(
        node_class=name,
        vendor=size.vendor if size else None,
        runtime=f"{size.runtime.kind.upper()} {size.runtime.version}" if size else None,
        vram_gib=size.vram_gib if size else None,
        price_micros=micros(size.price_per_hour) if size else None,
        zones=tuple(sorted({node.zone for node in nodes})),
        devices=len(cells),
        held=len(held),
        stranded_share=1 - sum(cell.fill for cell in held) / len(held) if held and size else None,
        nodes=tuple(nodes),
        pending=tuple(
            PendingRow(
                replica=replica.name,
                model=replica.model,
                since=replica.unschedulable_since or replica.created_at,
                note=replica.note,
            )
            for replica in pending
        ),
    )
