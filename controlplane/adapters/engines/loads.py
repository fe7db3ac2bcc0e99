"""A model's load from what its engines say, each having been asked by itself.

Engines know no priority classes: a request waits in their queue behind whoever came before. So all
that they report goes into one class, and the others are left out, not set to zero. It is the class
with the strictest promise on waiting: since every class waits alike in such a queue, that promise
is the first to break, and the closed forms that predict the waits of fewer replicas see all the
load against it.
"""

from collections.abc import Callable, Sequence

from controlplane.adapters.engines.percentile import p99
from controlplane.adapters.engines.tally import Distribution, Mark, Tally
from controlplane.adapters.engines.watched import Watched
from controlplane.decide.signals.gathering import class_of, gathered
from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.policies import ModelPolicy, Objective
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.samples import Absence, NoData, Sample, Zero, reading

CYCLE_S = 5.0  # arrivals are over the scaling loop's period
WINDOW_S = 15.0  # percentiles and service times are of this while
NOBODY = NoData(Absence.EMPTY, "no replica in service")


def model_load(
    model: ModelName,
    policy: ModelPolicy,
    serving: Sequence[Watched],
    tally: Tally,
    at: Instant,
) -> ModelLoad:
    """Give the load of one model from its engines in service."""
    priority = class_of(policy)
    if not serving:
        of_class = ClassLoad(
            queue=NOBODY,
            arrivals=NOBODY,
            arrivals_steady=NOBODY,
            turned_away=NOBODY,
            wait_p99=NOBODY,
            latency_p99=NOBODY,
        )
        return ModelLoad(
            model=model,
            at=at,
            classes={priority: of_class},
            in_flight=NOBODY,
            service_s=NOBODY,
            kv_usage=NOBODY,
        )
    look = _Look(serving, tally, at)
    return ModelLoad(
        model=model,
        at=at,
        classes={priority: look.of_class(policy.objectives.get(priority), policy.scaling.steady_s)},
        in_flight=look.sum("running"),
        service_s=look.service_s(),
        kv_usage=look.mean("kv_usage"),
        vram=NoData(Absence.NOT_EXPORTED, "engines do not know"),
        utilisation=NoData(Absence.NOT_EXPORTED, "engines do not know"),
        notes=notes(serving, at),
    )


def notes(serving: Sequence[Watched], at: Instant) -> tuple[str, ...]:
    """Name the replicas that do not answer, each with its reason."""
    return tuple(
        f"{watched.engine.replica}: {watched.why_lost(at)}"
        for watched in serving
        if not watched.answers(at)
    )


class _Look:
    """The engines of one model at one moment."""

    def __init__(self, serving: Sequence[Watched], tally: Tally, at: Instant) -> None:
        self._serving, self._tally, self._at = serving, tally, at
        self._answering = [watched for watched in serving if watched.answers(at)]
        # Rates are sums over those that answer; the silent ones are taken to be like them.
        self._scale = len(serving) / len(self._answering) if self._answering else 0.0
        self._few = self._too_few()

    def of_class(self, objective: Objective | None, steady_s: float) -> ClassLoad:
        """Give what the class feels that stands for all."""
        wait_limit = objective.wait_p99_s if objective else None
        latency_limit = objective.latency_p99_s if objective else None
        spread = self._tally.spread(WINDOW_S, self._at)
        waits, latencies = spread or (Distribution(), Distribution())
        return ClassLoad(
            queue=self.sum("queue"),
            arrivals=self._arrivals(CYCLE_S),
            arrivals_steady=self._arrivals(steady_s),
            turned_away=self._unless_missing(
                "refused", self._rate(lambda mark: mark.refused, CYCLE_S)
            ),
            wait_p99=self._percentile(waits, wait_limit, lambda w: w.page and w.page.wait, "wait"),
            latency_p99=self._percentile(
                latencies, latency_limit, lambda w: w.page and w.page.latency, "latency"
            ),
        )

    def sum(self, key: str) -> Sample:
        """Add a gauge up over the replicas."""
        return gathered([w.sample(key, self._at) for w in self._serving], len(self._serving))

    def mean(self, key: str) -> Sample:
        """Give the mean of a gauge over the replicas."""
        return gathered([w.sample(key, self._at) for w in self._serving], 1)

    def service_s(self) -> Sample:
        """Give the mean time a request holds its slot."""
        return self._unless_missing("served", self._tally.service_s(WINDOW_S, self._at))

    def _arrivals(self, window_s: float) -> Sample:
        counter = "received" if self._serving[0].names.received else "finished"
        return self._unless_missing(counter, self._rate(lambda mark: mark.arrived, window_s))

    def _rate(self, of: Callable[[Mark], float], window_s: float) -> Sample:
        rate = self._tally.rate(of, window_s, self._at)
        return reading(rate.x * self._scale, self._at) if rate.x is not None else rate

    def _unless_missing(self, key: str, sample: Sample) -> Sample:
        """Give what was counted, unless the counter is not there or too few tell it."""
        if self._few is not None:
            return self._few
        if any(watched.exports(key) for watched in self._answering):
            return sample
        return self._answering[0].sample(key, self._at)

    def _percentile(
        self,
        spread: Distribution,
        limit_s: float | None,
        of: Callable[[Watched], object],
        key: str,
    ) -> Sample:
        if self._few is not None:
            return self._few
        if not any(of(watched) for watched in self._answering):
            kind, names = self._serving[0].engine.serving.engine, self._serving[0].names
            wanted = ", ".join(getattr(names, key)) or f"{kind} has no histogram of it"
            return NoData(Absence.NOT_EXPORTED, wanted)
        return p99(spread.counts, spread.total_s, limit_s, self._at)

    def _too_few(self) -> Sample | None:
        if len(self._answering) == len(self._serving):
            return None
        answers: list[Sample] = [
            Zero(self._at) if watched.answers(self._at) else watched.sample("queue", self._at)
            for watched in self._serving
        ]
        seen = gathered(answers, 1)
        return None if seen.x is not None else seen
