"""What a model's engines counted since we began to look, and its rates over the last while.

Deltas of single engines are added up here, so that a replica that leaves takes nothing with it, one
that is replaced or restarts is no reset of the sum, and what a replica did before it served (its
warm-up) does not count. Times are our own: an engine's clock never matters.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from controlplane.adapters.engines.names import Names
from controlplane.adapters.engines.page import Buckets, Page
from controlplane.domain.quantities import Instant
from controlplane.domain.samples import IDLE, NOT_YET, Sample, reading

SHORTEST_S = 0.9  # a rate over less than this says nothing
MARK_EVERY_S = 0.9
COUNTERS = (
    "received", "finished", "finished_too", "refused", "busy", "busy_with_wait", "waited", "served",
)  # fmt: skip


class Distribution:
    """How many fell into each bucket (not: were at most its bound), and their sum."""

    def __init__(self, counts: Mapping[float, float] | None = None, total_s: float = 0.0) -> None:
        """Begin with these."""
        self.counts = dict(counts or {})
        self.total_s = total_s

    def add(self, before: Buckets | None, after: Buckets | None) -> None:
        """Add what an engine saw between two looks; after a restart all it has seen."""
        if before is None or after is None:
            return
        restarted = any(after.upto.get(bound, 0.0) < n for bound, n in before.upto.items())
        earlier, below = {} if restarted else before.upto, 0.0
        for bound in sorted(after.upto):
            upto = after.upto[bound] - earlier.get(bound, 0.0)
            if upto > below:
                self.counts[bound] = self.counts.get(bound, 0.0) + upto - below
            below = upto
        self.total_s += after.sum - (0.0 if restarted else before.sum)

    def since(self, earlier: "Distribution") -> "Distribution":
        """Give what was added since."""
        counts = {b: n - earlier.counts.get(b, 0.0) for b, n in self.counts.items()}
        return Distribution(counts, self.total_s - earlier.total_s)

    def copy(self) -> "Distribution":
        """Give it as it is now."""
        return Distribution(self.counts, self.total_s)


class Mark(NamedTuple):
    """The sums at one moment."""

    at: Instant
    arrived: float
    refused: float
    busy_s: float
    served: float


class Spread(NamedTuple):
    """The distributions at one moment; they take room, so they are kept for a shorter while."""

    at: Instant
    wait: Distribution
    latency: Distribution


M = TypeVar("M", Mark, Spread)


class Tally:
    """One model's sums, and marks of them over the last while."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._arrived = self._refused = self._busy_s = self._served = 0.0
        self._wait, self._latency = Distribution(), Distribution()
        self._marks: deque[Mark] = deque()
        self._spreads: deque[Spread] = deque()

    def add(self, before: Page, after: Page, names: Names) -> None:
        """Add what one serving engine did between two looks at it."""
        grown = {key: _growth(before, after, key) for key in COUNTERS}
        in_engine = in_flight(after) - (0.0 if _restarted(before, after) else in_flight(before))
        if "received" in after.figures:
            self._arrived += grown["received"]
        else:  # what left, what was refused, and what is in it now and was not then
            left = grown["finished"] + grown["finished_too"]
            refused = 0.0 if _among_finished(names) else grown["refused"]
            self._arrived += max(0.0, left + refused + in_engine)
        self._refused += grown["refused"]
        busy = grown["busy"] if names.busy else grown["busy_with_wait"] - grown["waited"]
        self._busy_s += max(0.0, busy) * names.unit_s
        self._served += grown["served"]
        self._wait.add(before.wait, after.wait)
        self._latency.add(before.latency, after.latency)

    def mark(self, at: Instant, rates_s: float, spread_s: float) -> None:
        """Keep the sums as of now, and forget marks that are older than is needed."""
        if self._marks and at - self._marks[-1].at < MARK_EVERY_S:
            return
        self._marks.append(self._now(at))
        self._spreads.append(Spread(at, self._wait.copy(), self._latency.copy()))
        _forget(self._marks, at - rates_s)
        _forget(self._spreads, at - spread_s)

    def forget(self) -> None:
        """Begin anew: for a while too few engines answered, and that was not nothing."""
        self._marks.clear()
        self._spreads.clear()

    def rate(self, of: Callable[[Mark], float], window_s: float, at: Instant) -> Sample:
        """Give a sum's growth per second over a window; NotYet where it is not covered."""
        since = _newest(self._marks, at - window_s + SHORTEST_S)
        if since is None or at - since.at < SHORTEST_S:
            return NOT_YET
        return reading(max(0.0, of(self._now(at)) - of(since)) / (at - since.at), at)

    def service_s(self, window_s: float, at: Instant) -> Sample:
        """Give the mean time a request held its slot."""
        since = _newest(self._marks, at - window_s) or next(iter(self._marks), None)
        if since is None:
            return NOT_YET
        served = self._served - since.served
        return reading((self._busy_s - since.busy_s) / served, at) if served > 0 else IDLE

    def spread(self, window_s: float, at: Instant) -> tuple[Distribution, Distribution] | None:
        """Give the waits and the latencies seen within the window; None before anything was."""
        since = _newest(self._spreads, at - window_s) or next(iter(self._spreads), None)
        if since is None:
            return None
        return self._wait.since(since.wait), self._latency.since(since.latency)

    def _now(self, at: Instant) -> Mark:
        return Mark(at, self._arrived, self._refused, self._busy_s, self._served)


def _newest(marks: deque[M], moment: Instant) -> M | None:
    """Give the newest mark at or before a moment."""
    return next((mark for mark in reversed(marks) if mark.at <= moment), None)


def _forget(marks: deque[M], before: Instant) -> None:
    while len(marks) > 2 and marks[1].at <= before:
        marks.popleft()


def in_flight(page: Page) -> float:
    """Give what is in an engine, waiting or being generated."""
    return page.figures.get("queue", 0.0) + page.figures.get("running", 0.0)


def _growth(before: Page, after: Page, key: str) -> float:
    """Give a counter's growth; one that fell began anew."""
    new, old = after.figures.get(key), before.figures.get(key)
    if new is None:
        return 0.0
    if old is None:
        return 0.0 if key in before.bad else new  # its first count makes a series appear
    return new if new < old else new - old


def _restarted(before: Page, after: Page) -> bool:
    return any(after.figures.get(k, 0.0) < before.figures.get(k, 0.0) for k in COUNTERS)


def _among_finished(names: Names) -> bool:
    """Say whether the refused are counted among those that left."""
    if not names.finished_too or not names.refused:
        return False
    return names.finished_too[0].name == names.refused[0].name
