"""Which replica sits on which device, and how full it is: the cells of the fleet picture.

Seats are given as the ledger gives them, so the picture shows the device a model pays for, and a
cell does not jump to its neighbour because an older replica left.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from controlplane.decide.costs.holding import DevicesOf, Holder, Holding, hold
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.quantities import ClassName, NodeName, ReplicaName, micros
from controlplane.domain.replicas import Replica
from controlplane.domain.samples import NoData
from controlplane.http.reads.shapes.fleet import DeviceCell, NodeRow, PendingRow, PoolRow

NODES_AT_ONCE = 100


class Seats:
    """Who held which device at the last look."""

    def __init__(self) -> None:
        """Start with every device free."""
        self.before: Mapping[NodeName, Holding] = {}


async def pools(
    catalogue: Catalogue, view: FleetView, devices_of: DevicesOf, seats: Seats
) -> tuple[PoolRow, ...]:
    """Give every class with its nodes and cells, in the catalogue's order.

    Others get their turn between the nodes: thousands of them take longer than a tick may block.
    """
    if isinstance(view.nodes, NoData):
        return ()
    on_node: dict[NodeName | None, list[Replica]] = {}
    for replica in view.replicas:
        on_node.setdefault(replica.node, []).append(replica)
    holdings: dict[NodeName, Holding] = {}
    by_class: dict[ClassName, list[NodeRow]] = {name: [] for name in catalogue.node_classes}
    for start in range(0, len(view.nodes), NODES_AT_ONCE):
        nodes = view.nodes[start : start + NODES_AT_ONCE]
        there = {r.name: r for node in nodes for r in on_node.get(node.name, ())}
        held = hold(nodes, there.values(), catalogue, devices_of, seats.before)
        for node, holding in zip(nodes, held, strict=True):
            holdings[node.name] = holding
            row = _node(catalogue, node, holding, there)
            row = _with_others(row, view.others.get(node.name, 0))
            by_class.setdefault(node.node_class, []).append(row)
        await asyncio.sleep(0)
    seats.before = holdings
    pending = on_node.get(None, [])
    return tuple(
        _pool(catalogue, name, nodes, _pending(pending, name)) for name, nodes in by_class.items()
    )


def _node(
    catalogue: Catalogue,
    node: Node,
    holding: Holding,
    replicas: Mapping[ReplicaName, Replica],
) -> NodeRow:
    on_device: list[list[Holder]] = [[] for _ in range(node.devices)]
    for holder in holding.holders:
        for index in holder.devices:
            on_device[index].append(holder)
    size = catalogue.node_classes.get(node.node_class)
    return NodeRow(
        name=node.name,
        zone=node.zone,
        ready=node.ready,
        schedulable=node.schedulable,
        note=node.note,
        devices=tuple(
            _cell(index, holders, replicas, size.vram_gib if size else None)
            for index, holders in enumerate(on_device)
        ),
    )


def _with_others(row: NodeRow, held: int) -> NodeRow:
    """Mark devices that pods of others hold; which ones is not known, so the last free ones."""
    if not held:
        return row
    free = [cell.index for cell in row.devices if cell.model is None]
    taken = set(free[-held:])
    cells = tuple(
        msgspec.structs.replace(cell, foreign=True) if cell.index in taken else cell
        for cell in row.devices
    )
    return msgspec.structs.replace(row, devices=cells)


def _cell(
    index: int,
    holders: Sequence[Holder],
    replicas: Mapping[ReplicaName, Replica],
    vram_gib: float | None,
) -> DeviceCell:
    """Draw the one that is awake; asleep, a model's weights are off the device."""
    if not holders:
        return DeviceCell(index=index)
    awake = [holder for holder in holders if not replicas[holder.replica].sleeping]
    shown = replicas[(awake or holders)[0].replica]
    fill = min(1.0, sum(holder.vram for holder in awake))
    return DeviceCell(
        index=index,
        model=shown.model,
        replica=shown.name,
        lane=str(shown.lane),
        stage=str(shown.stage),
        fill=fill,
        held_gib=None if vram_gib is None else fill * vram_gib,
        sleeping=len(awake) < len(holders),
        lost=not shown.node_ready,
        others=tuple(holder.replica for holder in holders if holder.replica != shown.name),
    )


def _pending(replicas: Iterable[Replica], node_class: ClassName) -> tuple[PendingRow, ...]:
    return tuple(
        PendingRow(
            replica=replica.name,
            model=replica.model,
            since=replica.unschedulable_since or replica.created_at,
            note=replica.note,
        )
        for replica in replicas
        if replica.node_class == node_class
    )


def _pool(
    catalogue: Catalogue,
    name: ClassName,
    nodes: Sequence[NodeRow],
    pending: Iterable[PendingRow],
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
        pending=tuple(pending),
    )
