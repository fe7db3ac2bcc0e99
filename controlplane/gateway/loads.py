"""What the models bring and feel, out of what the workers counted: the gateway as `Signals`.

Arrivals are counted where they arrive, the refused included; a wait is measured from arrival to
slot. Percentiles are the upper edges of buckets, so they err to the safe side by one bucket.
"""

from collections.abc import Mapping, Sequence

from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.samples import IDLE, NOT_YET, Sample, reading
from controlplane.gateway.past import NOTHING, Past
from controlplane.gateway.tally import ClassTally, Spread, quantile

CYCLE_S = 5.0
WINDOW_S = 15.0  # what percentiles are taken over
STEADY_S = 60.0
TURNED_AWAY = (ReasonCode.QUEUE_FULL, ReasonCode.NO_ENDPOINTS, ReasonCode.WAITED_TOO_LONG)


class Loads:
    """Says what lies between two looks of the last minute."""

    def __init__(self, past: Past) -> None:
        """Read this past."""
        self._past = past

    def loads(self, models: Sequence[ModelName], now: Instant) -> Mapping[ModelName, ModelLoad]:
        """Give every model's load; before there are two looks nothing is known."""
        if self._past.latest is None or not self._past.told:
            return {
                name: ModelLoad(model=name, at=now, classes={p: ClassLoad() for p in PRIORITIES})
                for name in models
            }
        at, sums = self._past.latest
        return {name: self._load(name, sums.get(name, NOTHING), at) for name in models}

    def _load(self, name: ModelName, new: Sequence[ClassTally], at: Instant) -> ModelLoad:
        before = self._past.before
        cycle, window, steady = (before(name, at - s) for s in (CYCLE_S, WINDOW_S, STEADY_S))
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
