"""Requests as a fluid: work in slot seconds that arrives per step and must be served in time.

Rows are classes, columns are steps. A class's backlog may never exceed the work that arrived within
its limit: then nothing of it has waited longer.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_ROUNDING = 1e-6  # slot seconds


def earliest_work(at: Array, service_s: Array, step_s: float, steps: int) -> Array:
    """Give the work per step if every request had a slot on arrival: one slot, until it is done.

    This is what a bound must count. To count a request's work whole when it arrives would ask for
    several slots at once for a request that can only use one.
    """
    ends = np.arange(1, steps + 1) * step_s

    def since(moments: Array) -> Array:
        """Sum, at the end of each step, the time since each moment that has passed."""
        step = (moments / step_s).astype(np.int64)
        within = step < steps
        passed = np.cumsum(np.bincount(step[within], minlength=steps))
        sums = np.cumsum(np.bincount(step[within], moments[within], minlength=steps))
        return np.asarray(passed * ends - sums, dtype=np.float64)

    done = since(at) - since(at + service_s)
    return np.diff(done, prepend=0.0)


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
