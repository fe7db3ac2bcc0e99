"""Rates, highest values and coverage over a stretch of time, from timestamps and never from ticks.

A loop that slips, or runs at another period in a simulation, must decide the same. The values here
are part of a loop's memory: small, frozen, stored as JSON, and given back changed.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from controlplane.domain.quantities import Instant


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """A value and the moment it was seen."""

    at: Instant
    x: float


class Highest(msgspec.Struct, frozen=True, array_like=True):
    """The highest value of the last `span` seconds.

    Kept as falling steps: a value that is followed by a higher one can never be the highest again.
    """

    steps: tuple[Mark, ...] = ()

    def seeing(self, at: Instant, x: float, span_s: float) -> "Highest":
        """Give the window with one more value, without those it outlived or outgrew."""
        since = at - span_s
        kept = [mark for mark in self.steps if mark.x > x and mark.at >= since]
        kept.append(Mark(at, x))
        return Highest(tuple(kept))

    def value(self, now: Instant, span_s: float) -> float | None:
        """Give the highest value seen in [now - span, now]; None when nothing was."""
        since = now - span_s
        for mark in self.steps:
            if mark.at >= since:
                return mark.x
        return None

    def until(self, now: Instant, span_s: float, below: float) -> Instant | None:
        """Say when the last value of at least `below` leaves the window; None if none is in it."""
        holding = [mark.at for mark in self.steps if mark.x >= below and mark.at >= now - span_s]
        return holding[-1] + span_s if holding else None


class Coverage(msgspec.Struct, frozen=True, array_like=True):
    """During which stretches something was known. One sample speaks for the time since the last.

    `gap_s` is the longest such time: after a longer silence the sample speaks for `gap_s` only.
    """

    stretches: tuple[tuple[Instant, Instant], ...] = ()

    def seeing(self, at: Instant, span_s: float, gap_s: float, *, known: bool) -> "Coverage":
        """Give the coverage after one more look, forgetting what is older than the span."""
        since = at - span_s
        kept = [stretch for stretch in self.stretches if stretch[1] > since]
        if not known:
            return Coverage(tuple(kept))
        if kept and 0 <= at - kept[-1][1] <= gap_s:
            kept[-1] = (kept[-1][0], at)
        else:
            kept.append((at, at))
        return Coverage(tuple(kept))

    def share(self, now: Instant, span_s: float) -> float:
        """Give the part of [now - span, now] during which it was known."""
        if span_s <= 0:
            return 1.0
        since = now - span_s
        covered = sum(max(0.0, min(to, now) - max(begin, since)) for begin, to in self.stretches)
        return covered / span_s


def rate(events: Iterable[Mark], now: Instant, span_s: float) -> float:
    """Give events per second over (now - span, now]; each mark says how many it stands for."""
    since = now - span_s
    return sum(mark.x for mark in events if since < mark.at <= now) / span_s


def counter_rate(readings: Sequence[Mark], now: Instant, span_s: float) -> float | None:
    """Give the growth per second of a counter over the window; None with fewer than two readings.

    A reading below the one before is a restart: the counter began again at zero. The rate is over
    the time between the first and the last reading, so a missing one does not lower it.
    """
    within = [mark for mark in readings if now - span_s <= mark.at <= now]
    if len(within) < 2 or within[-1].at <= within[0].at:
        return None
    growth = 0.0
    for before, after in pairwise(within):
        growth += after.x - before.x if after.x >= before.x else after.x
    return growth / (within[-1].at - within[0].at)


def kept(marks: Sequence[Mark], now: Instant, span_s: float) -> tuple[Mark, ...]:
    """Give the marks that are still within the window."""
    since = now - span_s
    return tuple(mark for mark in marks if mark.at > since)
