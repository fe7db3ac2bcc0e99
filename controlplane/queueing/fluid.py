"""Requests as a fluid: work in slot seconds that arrives per step and must be served in time.

Rows are classes, columns are steps. A class's backlog may never exceed the work that arrived within
its limit: then nothing of it has waited longer.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_ROUNDING = 1e-6  # slot seconds


class EarliestWork:
    """The work per class and step if every request had a slot on arrival: one slot, until done.

    This is what a bound must count. To count a request's work whole when it arrives would ask for
    several slots at once for a request that can only use one. Requests are added in any order.
    """

    def __init__(self, classes: int, steps: int, step_s: float) -> None:
        """Start without a request."""
        self._shape, self._step_s = (classes, steps), step_s
        # Slots taken (+1) and given back (-1) in each step, and the time from then to its end.
        self._taken = np.zeros(self._shape)
        self._rest_s = np.zeros(self._shape)

    def add(self, rank: NDArray[np.integer], at: Array, service_s: Array) -> None:
        """Count requests: their class, their arrival, and how long they hold a slot."""
        self._add(rank, at, 1.0)
        self._add(rank, at + service_s, -1.0)

    def _add(self, rank: NDArray[np.integer], moments: Array, sign: float) -> None:
        classes, steps = self._shape
        step = (moments / self._step_s).astype(np.int64)
        if not step.size or step.min() >= steps:
            return
        first = int(step.min())
        width = int(step.max()) - first + 1
        place = rank.astype(np.int64) * width + (step - first)
        rest_s = (step + 1) * self._step_s - moments
        kept = slice(first, min(steps, first + width))  # what comes after the end is not counted
        for table, weights in ((self._taken, None), (self._rest_s, rest_s)):
            counted = np.bincount(place, weights, classes * width).reshape(classes, width)
            table[:, kept] += sign * counted[:, : kept.stop - first]

    @property
    def work(self) -> Array:
        """Give the slot seconds per class and step."""
        held_before = np.cumsum(self._taken, axis=1) - self._taken
        return np.maximum(held_before * self._step_s + self._rest_s, 0.0)


def allowed_backlog(work: Array, limits_s: Sequence[float], step_s: float) -> Array:
    """Give, per class and step, the work that arrived within the class's limit before its end."""
    edges = np.arange(work.shape[1] + 1) * step_s
    allowed = np.empty_like(work)
    for row, limit in enumerate(limits_s):
        arrived = np.concatenate(([0.0], np.cumsum(work[row])))
        allowed[row] = arrived[1:] - np.interp(edges[1:] - limit, edges, arrived)
    return allowed


def late_work(work: Array, allowed: Array, capacity: Array) -> Array:
    """Serve with the capacity of each step, and give what could not be served in time.

    What must be served now goes first, highest class first; what is left over goes to the classes
    in their order. Late work is dropped. Nothing late proves that the capacity suffices; something
    late proves the contrary only where there is one class, or the classes never compete.
    """
    late = np.zeros_like(work)
    backlog = [0.0] * work.shape[0]
    columns = zip(work.T.tolist(), allowed.T.tolist(), capacity.tolist(), strict=True)
    for step, (arriving, may_wait, can) in enumerate(columns):
        left = can
        for row, more in enumerate(arriving):
            backlog[row] += more
            must = max(0.0, backlog[row] - may_wait[row])
            served = min(must, left)
            left -= served
            backlog[row] -= must
            if must - served > _ROUNDING:
                late[row, step] = must - served
        for row, waiting in enumerate(backlog):
            served = min(waiting, left)
            backlog[row] -= served
            left -= served
    return late


def without(work: Array, late: Array) -> Array:
    """Take late work away from what arrived, newest first."""
    kept = work.copy()
    for row, step in np.argwhere(late > 0.0):
        left, at = late[row, step], step
        while left > 0.0 and at >= 0:
            taken = min(left, kept[row, at])
            kept[row, at] -= taken
            left -= taken
            at -= 1
    return kept
