"""The perfect fleet: the fewest device-hours that could have served all of every class in time.

It knows all arrivals, starts replicas so that they are up when they are needed, and pays only their
load time for it. It bounds every policy that serves everything in time; one that lets requests fail
can be below it.

What is counted. `work` is slot seconds per class and step. Give it the very requests of a run and
it is the bound of that run; give it expected values and it is the bound of the average run (the
two differ by 0.01 %: a day of the chat scenario is 104.96 and 104.97 GPU-hours). Where the largest
fleet allowed cannot serve everything in time, what it would leave is dropped and reported, and the
bound is of the rest.

How it is found. The day falls apart wherever the smallest fleet leaves no backlog for as long as a
replica takes to load: going back to the smallest fleet in between is then never dearer. Each block
is solved with all classes as one fluid (`schedule`). That is a bound already, and the answer where
its schedule also serves each class for itself; where it does not, the classes compete within a step
and the block goes to the solver (`milp`), unless it is too long for it.
"""

from collections.abc import Iterator, Sequence
from math import ceil

import msgspec
import numpy as np

from controlplane.queueing.fluid import Array, allowed_backlog, late_work, without
from controlplane.queueing.milp import solve
from controlplane.queueing.schedule import FleetRange, Search

_ROUNDING = 1e-6
_LONGEST_FOR_SOLVER = 720  # steps


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """The least replica time for a load, and what is to be known about the figure."""

    replica_s: float
    exact: bool  # False: no schedule is cheaper, but there may be none that cheap
    unserved: float  # slot seconds that even the largest fleet could not serve in time

    def device_hours(self, devices: int = 1) -> float:
        """Give device-hours, for replicas of so many devices."""
        return self.replica_s * devices / 3600.0


def least_replica_time(work: Array, limits_s: Sequence[float], fleet: FleetRange) -> Bound:
    """Give the bound for `work[class, step]`, classes in the order of `limits_s`, shortest first.

    A class of which nothing arrives costs nothing, whatever its limit.
    """
    allowed = allowed_backlog(work, limits_s, fleet.step_s)
    largest = np.full(work.shape[1], fleet.max * fleet.per_replica)
    late = late_work(work, allowed, largest)
    served = without(work, late) if late.any() else work
    total, exact = fleet.min * fleet.step_s * work.shape[1], True
    for block in _blocks(served, fleet):
        part = msgspec.structs.replace(fleet, start=fleet.start if block.start == 0 else fleet.min)
        cost, proven = _solve_block(served[:, block], allowed[:, block], part)
        total += cost - fleet.min * fleet.step_s * (block.stop - block.start)
        exact = exact and proven
    return Bound(replica_s=total, exact=exact, unserved=float(late.sum()))


def _blocks(work: Array, fleet: FleetRange) -> Iterator[slice]:
    """Give the stretches where the smallest fleet falls behind, a load time wider on each side."""
    pad = ceil(fleet.load_s / fleet.step_s)
    steps, backlog = work.shape[1], 0.0
    begin = end = -1
    for step, arriving in enumerate(work.sum(axis=0).tolist()):
        backlog = max(0.0, backlog + arriving - fleet.min * fleet.per_replica)
        if backlog <= _ROUNDING:
            continue
        if begin >= 0 and step - pad > end:
            yield slice(begin, end)
            begin = -1
        if begin < 0:
            begin = max(0, step - pad)
        end = min(steps, step + 1 + pad)
    if begin >= 0:
        yield slice(begin, end)


def _solve_block(work: Array, allowed: Array, fleet: FleetRange) -> tuple[float, bool]:
    """Give a block's least cost in replica seconds, and whether a schedule of that cost exists."""
    search = Search(fleet, work.sum(axis=0), allowed.sum(axis=0), _fewest(work, allowed, fleet))
    if np.count_nonzero(work.any(axis=1)) == 1:
        return search.cost_s(), True
    cost, replicas = search.replicas()
    capacity = np.array(replicas) * fleet.per_replica
    if not late_work(work, allowed, capacity).any():
        return cost, True
    if work.shape[1] > _LONGEST_FOR_SOLVER:
        return cost, False
    solved = solve(fleet, work, allowed)
    if solved is None:
        return cost, False
    return max(cost, solved.bound_s), solved.exact


def _fewest(work: Array, allowed: Array, fleet: FleetRange) -> Array:
    """Give the replicas each step needs for the more urgent classes alone, with no backlog yet."""
    must = np.maximum(0.0, np.cumsum(work - allowed, axis=0)).max(axis=0)
    needed = np.ceil((must - _ROUNDING) / fleet.per_replica)
    return np.asarray(np.clip(needed, fleet.min, fleet.max), dtype=np.float64)
