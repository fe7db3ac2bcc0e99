"""The fleet in four figures: devices held, idle share, cost per hour, last breach to capacity."""

from collections.abc import Sequence
from typing import NamedTuple

from controlplane.domain.replicas import Lane
from controlplane.http.reads.hour import last_hour
from controlplane.http.reads.shapes.fleet import PoolRow, Sums
from controlplane.http.state import State


class Counts(NamedTuple):
    """A class's devices."""

    price: int
    devices: int
    held: int
    warm: int


async def sums(state: State, pools: Sequence[PoolRow], *, inventory_known: bool) -> Sums:
    """Give the four figures."""
    hour = await last_hour(state)
    counts = [_count(pool) for pool in pools]
    priced = inventory_known and all(pool.price_micros is not None for pool in pools)
    held = sum(one.held for one in counts)
    devices = sum(one.devices for one in counts)
    bill = sum(one.price * one.devices for one in counts)
    warm = sum(one.price * one.warm for one in counts)
    return Sums(
        devices=devices if inventory_known else None,
        held=held if inventory_known else None,
        idle_share=hour.idle_share,
        micros_per_hour=bill if priced else None,
        warm_micros_per_hour=warm if priced else None,
        idle_micros_per_hour=bill - sum(c.price * c.held for c in counts) if priced else None,
        breach_to_capacity_s=hour.breach.answered_s if hour.breach else None,
        breach_at=hour.breach.at if hour.breach else None,
        breach_model=hour.breach.model if hour.breach else None,
        currency=state.in_force.catalogue.currency,
    )


def _count(pool: PoolRow) -> Counts:
    warm = sum(cell.lane == Lane.WARM for node in pool.nodes for cell in node.devices)
    return Counts(pool.price_micros or 0, pool.devices, pool.held, warm)
