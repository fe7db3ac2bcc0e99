"""The cheapest whole-number schedule of a fleet for one fluid, exactly, by dynamic programming.

A state is (replicas, cost so far); its value is the least backlog with which it can be reached, for
less backlog is never worse. Costs are whole multiples of one unit (a replica for a step, a start),
so the states are few: any that costs more than being at full size with no avoidable backlog is
worse than that one, and full size is never more than `max - min` starts away. Integer programming
takes hours on a day without quiet stretches; this takes a tenth of a millisecond per step.
"""

from math import ceil, floor, gcd, sqrt

import msgspec
import numpy as np

from controlplane.queueing.fluid import Array

_ROUNDING = 1e-6  # slot seconds
_FINEST = 10  # units per step, at most
KEPT_WHOLE = 1000  # steps; a front is some 50 KB


class FleetRange(msgspec.Struct, frozen=True, kw_only=True):
    """What a schedule may do, and what it pays for."""

    min: int
    max: int
    start: int  # replicas in service at the beginning
    slots: int  # of one replica
    load_s: float  # billed for every start, on top of the time in service
    step_s: float = 5.0

    @property
    def per_replica(self) -> float:
        """Slot seconds one replica serves in a step."""
        return self.slots * self.step_s


class _Units:
    """Costs as whole numbers: how many units a replica's step and a start are."""

    def __init__(self, fleet: FleetRange) -> None:
        step_ms, load_ms = round(fleet.step_s * 1000), floor(fleet.load_s * 1000)
        unit = max(gcd(step_ms, load_ms) if load_ms else step_ms, ceil(step_ms / _FINEST))
        self.step = step_ms // unit
        self.start = load_ms // unit  # rounded down: a bound stays one
        self.seconds = fleet.step_s / self.step


class _Front:
    """The states after one step: `backlog[replicas - min, level]`, `level` counted from `base`."""

    __slots__ = ("backlog", "base")

    def __init__(self, backlog: Array, base: int) -> None:
        self.backlog = backlog
        self.base = base


class Search:
    """One fluid and one fleet: `work` and `allowed` per step, and the fewest replicas per step."""

    def __init__(self, fleet: FleetRange, work: Array, allowed: Array, fewest: Array) -> None:
        """Prepare; `work` can be served in time at full size, else there is no schedule."""
        self._fleet = fleet
        self._units = _Units(fleet)
        self._work = work.tolist()
        self._allowed = (allowed + _ROUNDING).tolist()
        self._fewest = (fewest - fleet.min).astype(int).tolist()
        sizes = np.arange(fleet.min, fleet.max + 1)
        self._capacity = (sizes * fleet.per_replica)[:, None]
        self._least = _least_backlog(self._work, fleet.max * fleet.per_replica)

    def cost_s(self) -> float:
        """Give the least cost in replica seconds."""
        front = self._begin()
        for step in range(len(self._work)):
            front = self._advance(front, step)
        return (front.base + _first_level(front.backlog)) * self._units.seconds

    def replicas(self, kept_whole: int = KEPT_WHOLE) -> tuple[float, list[int]]:
        """Give the least cost, and a schedule of that cost.

        On more than `kept_whole` steps only some fronts are kept, and the ones between made anew.
        """
        steps = len(self._work)
        stride = 1 if steps <= kept_whole else ceil(sqrt(steps))
        kept = [front := self._begin()]
        for step in range(steps):
            front = self._advance(front, step)
            if (step + 1) % stride == 0 or step + 1 == steps:
                kept.append(front)
        level = front.base + _first_level(front.backlog)
        state = int(np.argmin(front.backlog[:, level - front.base])), level
        chosen = [0] * steps
        for index in range(len(kept) - 2, -1, -1):
            first, last = index * stride, min(steps, (index + 1) * stride)
            fronts = [kept[index]]
            for step in range(first, last - 1):
                fronts.append(self._advance(fronts[-1], step))
            fronts.append(kept[index + 1])
            for step in range(last - 1, first - 1, -1):
                chosen[step] = state[0] + self._fleet.min
                state = self._before(fronts[step - first], fronts[step - first + 1], step, state)
        return level * self._units.seconds, chosen

    def _begin(self) -> _Front:
        backlog = np.full((self._fleet.max - self._fleet.min + 1, 1), np.inf)
        backlog[self._fleet.start - self._fleet.min, 0] = 0.0
        return _Front(backlog, 0)

    def _advance(self, front: _Front, step: int) -> _Front:
        """Let each size serve a step, after starting or stopping replicas."""
        rows, width = front.backlog.shape
        start, a_step = self._units.start, self._units.step
        margin = (rows - 1) * start
        wide = np.full((rows, margin + width + margin), np.inf)
        stopped = np.minimum.accumulate(front.backlog[::-1], axis=0)[::-1]  # stops are free
        wide[:, margin : margin + width] = stopped
        started = _sheared(wide, start, margin + width)  # a start costs the load time
        np.minimum.accumulate(started, axis=0, out=started)
        served = wide[:, margin:]
        served += self._work[step] - self._capacity
        np.maximum(served, 0.0, out=served)
        np.putmask(served, served > self._allowed[step], np.inf)
        served[: self._fewest[step]] = np.inf
        paid = np.full((rows, served.shape[1] + (rows - 1) * a_step), np.inf)
        # time in service; that of the fewest replicas is in the base
        _sheared(paid, a_step, served.shape[1])[...] = served
        return self._trimmed(paid, front.base + self._fleet.min * a_step, self._least[step])

    def _trimmed(self, wide: Array, base: int, least: float) -> _Front:
        """Drop levels nobody reaches, and those dearer than full size with the least backlog."""
        full = np.flatnonzero(wide[-1] <= least)
        if not full.size:
            raise ValueError(f"work: more than max = {self._fleet.max} replicas can serve in time")
        kept = wide[:, : int(full[0]) + 1]
        first = _first_level(kept)
        return _Front(kept[:, first:].copy(), base + first)

    def _before(
        self, old: _Front, new: _Front, step: int, state: tuple[int, int]
    ) -> tuple[int, int]:
        """Find the state a state came from: the one whose backlog leads to exactly this one."""
        row, level = state
        backlog = new.backlog[row, level - new.base]
        paid = level - (row + self._fleet.min) * self._units.step
        for origin in range(old.backlog.shape[0]):
            before = paid - max(0, row - origin) * self._units.start
            if not 0 <= before - old.base < old.backlog.shape[1]:
                continue
            had = old.backlog[origin, before - old.base]
            came = had + (self._work[step] - self._capacity[row, 0])
            if max(came, 0.0) == backlog:
                return origin, before
        raise AssertionError(f"state {state} of step {step} came from nowhere")


def _sheared(table: Array, by: int, width: int) -> Array:
    """View a table with each row beginning `by` columns further right than the one before."""
    row, column = table.strides
    shape, strides = (table.shape[0], width), (row + by * column, column)
    return np.ndarray(shape, np.float64, table.data, 0, strides)


def _first_level(backlog: Array) -> int:
    return int(np.argmax(backlog.min(axis=0) < np.inf))


def _least_backlog(work: list[float], capacity: float) -> list[float]:
    """Give the backlog at each step's end if the fleet is at full size all along."""
    least, backlog = [], 0.0
    for arriving in work:
        backlog = max(backlog + (arriving - capacity), 0.0)
        least.append(backlog)
    return least
