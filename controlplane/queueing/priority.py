"""Waits under non-preemptive priorities: who is served first, once a slot frees.

Cobham's result (1954) for one slot and any service time, and its form for k equal exponential
slots. Classes are given highest first. A class whose own and higher load exceeds the slots waits
for ever; the classes above it still have a finite wait, for to them it only looks like a slot that
is always busy when they come (this is what a permanent overload by low means for high).
"""

from collections.abc import Sequence
from math import inf

from controlplane.queueing.erlang import erlang_c, exponential_tail_quantile


def mean_waits(arrivals: Sequence[float], service_s: float, slots: int) -> tuple[float, ...]:
    """Give each class's mean wait in M/M/k with one service time for all."""
    waiting = erlang_c(slots, sum(arrivals) * service_s)
    residual = waiting * service_s / slots
    return _spread(residual, [rate * service_s / slots for rate in arrivals])


def first_class_wait_quantile(
    arrivals: Sequence[float], service_s: float, slots: int, share: float
) -> float:
    """Give a quantile of the highest class's wait in M/M/k; exact.

    Found all slots busy, it only waits for those of its own class that came before: for it the
    slots are one server of k times the speed, whose wait is exponential.
    """
    spare = slots - arrivals[0] * service_s
    if spare <= 0:
        return inf
    waiting = erlang_c(slots, sum(arrivals) * service_s)
    return exponential_tail_quantile(waiting, service_s / spare, share)


def mean_waits_one_slot(
    arrivals: Sequence[float], service_s: Sequence[float], scv: Sequence[float]
) -> tuple[float, ...]:
    """Give each class's mean wait in M/G/1, with a service time and its variation per class."""
    loads = [rate * mean for rate, mean in zip(arrivals, service_s, strict=True)]
    residual = 0.0
    left = 1.0  # share of the slot's time the classes so far leave over
    for load, mean, variation in zip(loads, service_s, scv, strict=True):
        held = min(load, left)  # a class in overload holds what is left, and no more
        residual += held * mean * (1.0 + variation) / 2.0
        left -= held
    return _spread(residual, loads)


def _spread(residual: float, loads: Sequence[float]) -> tuple[float, ...]:
    """Divide the residual work by what the classes above, and up to each one, leave over."""
    waits = []
    above = 0.0
    for load in loads:
        up_to = above + load
        waits.append(residual / ((1.0 - above) * (1.0 - up_to)) if up_to < 1.0 else inf)
        above = up_to
    return tuple(waits)
