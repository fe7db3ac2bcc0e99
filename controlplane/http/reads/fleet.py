"""The first page: what needs attention, the fleet in four figures, the devices, the models."""

import asyncio
from collections.abc import Iterator

from controlplane.domain.fleet import FleetView
from controlplane.domain.overrides import FLEET, Overrides
from controlplane.domain.samples import NoData
from controlplane.http.reads.attention import Memory, attention, silent_loops
from controlplane.http.reads.breakers import open_since
from controlplane.http.reads.devices import Seats, pools
from controlplane.http.reads.latest import written
from controlplane.http.reads.matches import matches
from controlplane.http.reads.models import look, model_rows
from controlplane.http.reads.shapes.fleet import (
    Attention,
    Fleet,
    NodeLine,
    PoolRow,
    TopBar,
    UnknownRow,
)
from controlplane.http.reads.sums import sums
from controlplane.http.state import State

TICK_S = 0.8  # computed at most so often, however many look


async def fleet(state: State) -> Fleet:
    """Give the whole first page."""
    return await state.shared.once("fleet", TICK_S, lambda: _fleet(state))


async def top_bar(state: State) -> TopBar:
    """Give the facts of the top bar, which every page shows."""
    return (await fleet(state)).top


async def _fleet(state: State) -> Fleet:
    rows = await model_rows(state)
    seen = await look(state)
    await asyncio.sleep(0)
    stands, opened = await written(state), await open_since(state)
    needs = attention(state, rows, seen.latest, seen.overrides, stands, opened)
    inventory, of_pools = await fleet_pools(state)
    return Fleet(
        top=_top(state, needs, seen.overrides),
        attention=needs,
        quiet_since=state.shared.thing("attention", Memory).quiet_since,
        sums=await sums(state, of_pools, inventory_known=inventory is None),
        inventory=inventory,
        pools=of_pools,
        models=rows,
        unknown=_unknown(state.history.view),
        inventory_note=_note(state.history.view),
    )


async def fleet_pools(state: State) -> tuple[str | None, tuple[PoolRow, ...]]:
    """Give the pools, and why the nodes are not known, if they are not."""
    return await state.shared.once("pools", TICK_S, lambda: _pools(state))


async def _pools(state: State) -> tuple[str | None, tuple[PoolRow, ...]]:
    view = state.history.view
    if view is None:
        return "NotYet", ()
    if isinstance(view.nodes, NoData):
        return str(view.nodes.why), ()
    seats = state.shared.thing("seats", Seats)
    return None, await pools(state.in_force.catalogue, view, matches(state).devices, seats)


def node_lines(found: Fleet) -> Iterator[NodeLine]:
    """Give all nodes as a table, those of no class at the end."""
    for pool in found.pools:
        for node in pool.nodes:
            yield NodeLine(
                name=node.name,
                node_class=pool.node_class,
                zone=node.zone,
                devices=len(node.devices),
                held=sum(cell.model is not None for cell in node.devices),
                foreign=sum(cell.foreign for cell in node.devices),
                ready=node.ready,
                schedulable=node.schedulable,
                note=node.note,
            )
    for unknown in found.unknown:
        yield NodeLine(
            name=unknown.name,
            node_class=None,
            zone=unknown.zone,
            devices=unknown.devices,
            held=0,
            foreign=0,
            ready=None,
            schedulable=None,
            note=unknown.why,
        )


def _unknown(view: FleetView | None) -> tuple[UnknownRow, ...]:
    return tuple(
        UnknownRow(
            name=node.name,
            zone=node.zone,
            devices=node.devices,
            labels=dict(node.labels),
            why=node.why,
        )
        for node in (view.unknown if view is not None else ())
    )


def _note(view: FleetView | None) -> str:
    return view.nodes.note if view is not None and isinstance(view.nodes, NoData) else ""


def _top(state: State, needs: tuple[Attention, ...], overrides: Overrides) -> TopBar:
    now = state.clock.now()
    view = state.history.view
    everything = overrides.get(FLEET)
    pause = everything if everything is not None and everything.paused else None
    return TopBar(
        cluster=state.cluster,
        world=state.world,
        acting=state.acting,
        leader=state.leader,
        now=now,
        data_at=view.at if view else None,
        data_age_s=now - view.at if view else None,
        speed=state.clock.rate,
        attention=len(needs),
        paused_all_by=pause.by if pause else None,
        paused_all_at=pause.at if pause else None,
        silent=silent_loops(state),
        catalogue_version=state.in_force.version.version,
        catalogue_faults=state.in_force.faults,
        catalogue_refused_at=state.in_force.refused_at,
    )
