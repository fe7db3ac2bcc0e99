"""The fleet in four figures: devices held, idle share, cost per hour, last breach to capacity."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import Instant
from controlplane.domain.replicas import Lane
from controlplane.http.reads.matches import matches
from controlplane.http.reads.shapes.fleet import DeviceCell, PoolRow, Sums
from controlplane.http.state import State
from controlplane.telemetry.history import Point

HOUR_S = 3600.0
STRIDE = 6  # every sixth point tells the hour's share as well
KEPT_S = 10.0  # these two look at an hour; they need not be computed each second


class Breach(NamedTuple):
    """A wait broke its limit; `answered_s` later added capacity served (None: not yet)."""

    at: Instant
    model: str
    answered_s: float | None


async def sums(state: State, pools: Sequence[PoolRow], *, inventory_known: bool) -> Sums:
    """Give the four figures."""
    idle, breach = await state.shared.once("hour", KEPT_S, lambda: _hour(state))
    cells = [(pool, cell) for pool in pools for node in pool.nodes for cell in node.devices]
    priced = inventory_known and all(pool.price_micros is not None for pool in pools)

    def cost(of: Callable[[DeviceCell], bool]) -> int | None:
        if not priced:
            return None
        return sum(pool.price_micros or 0 for pool, cell in cells if of(cell))

    return Sums(
        devices=len(cells) if inventory_known else None,
        held=sum(cell.model is not None for _, cell in cells) if inventory_known else None,
        idle_share=idle,
        micros_per_hour=cost(lambda _: True),
        warm_micros_per_hour=cost(lambda cell: cell.lane == Lane.WARM),
        idle_micros_per_hour=cost(lambda cell: cell.model is None),
        breach_to_capacity_s=breach.answered_s if breach else None,
        breach_at=breach.at if breach else None,
        breach_model=breach.model if breach else None,
        currency=state.in_force.catalogue.currency,
    )


async def _hour(state: State) -> tuple[float | None, Breach | None]:
    """Walk the last hour of every model, giving others their turn in between."""
    since = state.clock.now() - HOUR_S
    held = busy = 0.0
    newest: Breach | None = None
    devices = matches(state).devices
    for name, model in state.in_force.catalogue.models.items():
        points = state.history.points(name, since)
        size = min((count for (of, _), count in devices.items() if of == name), default=1)
        for point in points[::STRIDE]:
            if point.utilisation is not None:
                held += size * sum(point.lanes.values())
                busy += size * point.lanes.get(Lane.SERVING, 0) * point.utilisation
        limits = {p: objective.wait_p99_s for p, objective in model.policy.objectives.items()}
        found = newest_breach(name, points, limits)
        if found is not None and (newest is None or found.at > newest.at):
            newest = found
        await asyncio.sleep(0)
    return (1 - busy / held if held else None), newest


def newest_breach(
    model: str, points: Sequence[Point], limits: Mapping[Priority, float]
) -> Breach | None:
    """Find the newest moment a wait broke its limit, and how soon more replicas served."""
    newest: Breach | None = None
    was_broken, serving_then = False, 0
    for point in points:
        broken = any(_beyond(point.wait_p99.get(p), limit) for p, limit in limits.items())
        serving = point.lanes.get(Lane.SERVING, 0)
        if broken and not was_broken:
            newest, serving_then = Breach(point.at, model, None), serving
        elif newest is not None and newest.answered_s is None and serving > serving_then:
            newest = newest._replace(answered_s=point.at - newest.at)
        was_broken = broken
    return newest


def _beyond(wait: float | None, limit: float) -> bool:
    return wait is not None and wait > limit
