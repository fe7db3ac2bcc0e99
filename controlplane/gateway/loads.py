"""What the models bring and feel, out of what the workers counted: the gateway as `Signals`.

Arrivals are counted where they arrive, the refused included; a wait is measured from arrival to
slot. Percentiles are the upper edges of buckets, so they err to the safe side by one bucket.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.samples import IDLE, NOT_YET, Sample, reading
from controlplane.gateway.counts import Tallies
from controlplane.gateway.tally import ClassTally, Spread, quantile

LOOK_EVERY_S = 0.9
CYCLE_S = 5.0
WINDOW_S = 15.0  # what percentiles are taken over
STEADY_S = 60.0
TURNED_AWAY = (ReasonCode.QUEUE_FULL, ReasonCode.NO_ENDPOINTS, ReasonCode.WAITED_TOO_LONG)
NOTHING = [ClassTally() for _ in PRIORITIES]


class Loads:
    """Remembers sums of the last minute, and says what lies between them."""

    def __init__(self, sums: Callable[[], Tallies]) -> None:
        """Ask this for the sums since the beginning."""
        self._sums = sums
        self._past: deque[tuple[Instant, Tallies]] = deque()

    def note(self, now: Instant) -> None:
        """Remember how it is, about once a second."""
        if self._past and now - self._past[-1][0] < LOOK_EVERY_S:
            return
        self._past.append((now, self._sums()))
        while self._past[0][0] < now - STEADY_S - CYCLE_S:
            self._past.popleft()

    def loads(self, models: Sequence[ModelName], now: Instant) -> Mapping[ModelName, ModelLoad]:
        """Give every model's load; before there are two looks nothing is known."""
        if len(self._past) < 2:
            return {
                name: ModelLoad(model=name, at=now, classes={p: ClassLoad() for p in PRIORITIES})
                for name in models
            }
        return {name: self._load(name) for name in models}

    def _load(self, name: ModelName) -> ModelLoad:
        at, sums = self._past[-1]
        new = sums.get(name, NOTHING)
        cycle, window, steady = (self._before(name, at - s) for s in (CYCLE_S, WINDOW_S, STEADY_S))
        classes = {
            priority: ClassLoad(
                queue=reading(tally.queued, at),
                arrivals=rate(tally.arrived - cycle[1][n].arrived, at - cycle[0], at),
                arrivals_steady=rate(tally.arrived - steady[1][n].arrived, at - steady[0], at),
                turned_away=rate(away(tally) - away(cycle[1][n]), at - cycle[0], at),
                wait_p99=p99(tally.wait, window[1][n].wait, at),
                latency_p99=p99(tally.latency, window[1][n].latency, at),
            )
            for n, (priority, tally) in enumerate(zip(PRIORITIES, new, strict=True))
        }
        return ModelLoad(
            model=name,
            at=at,
            classes=classes,
            in_flight=reading(sum(t.running for t in new), at),
            service_s=service(new, window[1], at),
        )

    def _before(self, name: ModelName, at: Instant) -> tuple[Instant, list[ClassTally]]:
        """Give the newest look not younger than `at`, or the oldest there is."""
        found = self._past[0]
        for look in self._past:
            if look[0] > at:
                break
            found = look
        return found[0], found[1].get(name, NOTHING)


def away(tally: ClassTally) -> int:
    """Count those refused for want of capacity."""
    return sum(tally.refused.get(code.value, 0) for code in TURNED_AWAY)


def rate(count: int, span_s: float, at: Instant) -> Sample:
    """Give so many per second."""
    return reading(count / span_s, at) if span_s > 0 else NOT_YET


def p99(new: Spread, old: Spread, at: Instant) -> Sample:
    """Give the 99th percentile of what came between two looks."""
    between = [a - b for a, b in zip(new.counts, old.counts, strict=True)]
    found = quantile(between, 0.99)
    return IDLE if found is None else reading(found, at)


def service(new: Sequence[ClassTally], old: Sequence[ClassTally], at: Instant) -> Sample:
    """Give how long a request held its slot: its latency without its wait."""
    ended = sum(t.ended for t in new) - sum(t.ended for t in old)
    if not ended:
        return IDLE
    held = sum(t.held_s for t in new) - sum(t.held_s for t in old)
    return reading(held / ended, at)
