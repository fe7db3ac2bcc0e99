"""The gateway's metrics for Prometheus, made from the sums when they are scraped.

Every series of every catalogued model exists as zero from the start: a rule that asks for a rate of
something that never happened must find it.
"""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from controlplane.decide.breakers.breaker import State
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.queues import REFUSALS
from controlplane.domain.reasons import ReasonCode
from controlplane.gateway.breakers import Breakers
from controlplane.gateway.counts import Counts
from controlplane.gateway.tally import BUCKETS, ClassTally, Spread

PREFIX = "controlplane_gateway"
UNPLACED = (ReasonCode.UNKNOWN_MODEL, ReasonCode.KEY_UNKNOWN, ReasonCode.BODY_TOO_LARGE)
BY_CLASS = ("model", "priority")
COUNTERS = {
    "arrived": "Requests that arrived, the refused included.",
    "admitted": "Requests that got a slot.",
    "ended": "Admitted requests that ended, however they did.",
    "left": "Clients that went away while they waited.",
    "aged": "Admitted one class higher, for they had waited long.",
    "minimum": "Admitted by minimum service.",
    "evicted": "Running requests ended to make room.",
    "malformed": "Priorities that were nonsense, and treated as absent.",
}
GAUGES = {
    "queued": "Requests waiting.",
    "running": "Requests that hold a slot.",
    "oldest_s": "How long the longest waiting has waited.",
}
NAMES = {"oldest_s": "oldest_wait_seconds", "minimum": "minimum_service"}


class GatewayMetrics(Collector):
    """Collects from the sums of all workers."""

    def __init__(
        self, counts: Counts, breakers: Breakers, models: Callable[[], Iterable[str]]
    ) -> None:
        """Read these whenever somebody scrapes."""
        self._counts, self._breakers, self._models = counts, breakers, models

    def collect(self) -> Iterator[Metric]:
        """Give every family."""
        sums = self._counts.sums()
        rows = [
            ((name, priority.value), tally)
            for name in self._models()
            for priority, tally in zip(
                PRIORITIES, sums.get(name) or [ClassTally() for _ in PRIORITIES], strict=True
            )
        ]
        yield from _counters(rows)
        yield from _gauges(rows)
        yield _refused(rows)
        yield _histogram("wait_seconds", "From arrival to a slot.", rows, lambda t: t.wait)
        yield _histogram(
            "latency_seconds", "From arrival to the last byte.", rows, lambda t: t.latency
        )
        yield from self._own()

    def _own(self) -> Iterator[Metric]:
        unplaced = CounterMetricFamily(
            f"{PREFIX}_unplaced", "Requests refused before a model was found.", labels=("reason",)
        )
        counted = self._counts.unplaced
        for code in UNPLACED:
            unplaced.add_metric((code.value,), counted.get(code.value, 0))
        yield unplaced
        state = GaugeMetricFamily(
            f"{PREFIX}_breaker", "1 for the state a breaker is in.", labels=("model", "state")
        )
        for name in self._models():
            breaker = next((b for m, b in self._breakers.states.items() if m == name), None)
            for one in State:
                here = one is (State.CLOSED if breaker is None else breaker.state)
                state.add_metric((name, one.value), int(here))
        yield state
        yield GaugeMetricFamily(
            f"{PREFIX}_degraded",
            "1 while slots are local shares, for what shares them cannot be reached.",
            value=int(self._counts.degraded),
        )
        times, spent_s = self._counts.shared_s
        yield CounterMetricFamily(
            f"{PREFIX}_shared_asks", "Times slots were asked for in Redis.", value=times
        )
        yield CounterMetricFamily(
            f"{PREFIX}_shared_seconds", "Time asking for slots in Redis took.", value=spent_s
        )


Rows = list[tuple[tuple[str, str], ClassTally]]


def _counters(rows: Rows) -> Iterator[Metric]:
    for field, what in COUNTERS.items():
        family = CounterMetricFamily(f"{PREFIX}_{NAMES.get(field, field)}", what, labels=BY_CLASS)
        for labels, tally in rows:
            family.add_metric(labels, getattr(tally, field))
        yield family


def _gauges(rows: Rows) -> Iterator[Metric]:
    for field, what in GAUGES.items():
        family = GaugeMetricFamily(f"{PREFIX}_{NAMES.get(field, field)}", what, labels=BY_CLASS)
        for labels, tally in rows:
            family.add_metric(labels, getattr(tally, field))
        yield family


def _refused(rows: Rows) -> Metric:
    family = CounterMetricFamily(
        f"{PREFIX}_refused", "Requests refused, by reason.", labels=(*BY_CLASS, "reason")
    )
    for labels, tally in rows:
        for code in REFUSALS:
            family.add_metric((*labels, code.value), tally.refused.get(code.value, 0))
    return family


def _histogram(
    name: str, what: str, rows: Rows, spread_of: Callable[[ClassTally], Spread]
) -> Metric:
    family = HistogramMetricFamily(f"{PREFIX}_{name}", what, labels=BY_CLASS)
    for labels, tally in rows:
        spread, seen = spread_of(tally), 0
        buckets = []
        for edge, count in zip((*map(str, BUCKETS), "+Inf"), spread.counts, strict=True):
            seen += count
            buckets.append((edge, seen))
        family.add_metric(labels, buckets, sum_value=spread.total)
    return family
