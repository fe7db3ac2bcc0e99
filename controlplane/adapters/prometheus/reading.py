"""The parts of an answer put together: a sample of every replica or model, with its age.

The age is by Prometheus's own clock; our `at` is our now less that age, so two clocks that disagree
do no harm. A value without an age is of what is scraped no longer: a rate outlives its series by
the window, and is no news. What is no number stays none: a NaN percentile is idleness where the
count beside it says that there were no requests, and Bad where there is no such count (S3).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from controlplane.adapters.prometheus.client import Answer
from controlplane.domain.quantities import Instant
from controlplane.domain.samples import IDLE, Absence, Bad, NoData, Sample, Stale, reading
from controlplane.domain.sources import PrometheusSource
from controlplane.render.promql import AGE, COUNT, PART, VALUE

NO_LONGER = NoData(Absence.EMPTY, "it is scraped no longer")


class Key(NamedTuple):
    """What a row is about: a replica, or a model; the other is empty."""

    replica: str
    model: str


class Joined(NamedTuple):
    """How series are joined with replicas and models, and how old they may be."""

    source: PrometheusSource
    fresh_s: float
    namespace: str | None = None  # of our replicas; None takes any


def read(answer: Answer, at: Instant, joined: Joined) -> dict[Key, Sample]:
    """Give a sample for every replica or model that the answer speaks of."""
    rows: dict[Key, dict[str, str]] = defaultdict(dict)
    source, fresh_s = joined.source, joined.fresh_s
    for series in answer.series:
        labels = series.labels
        where = _first(labels, source.namespace_labels)
        if where and joined.namespace is not None and where != joined.namespace:
            continue
        key = Key(_first(labels, source.pod_labels), labels.get(source.model_label, ""))
        rows[key][labels.get(PART, VALUE)] = series.last
    return {key: _sample(parts, at, fresh_s) for key, parts in rows.items() if VALUE in parts}


def unjoined(answer: Answer, source: PrometheusSource) -> int:
    """Count the series that name neither replica nor model: their labels are called otherwise."""
    return sum(
        not _first(series.labels, source.pod_labels) and not series.labels.get(source.model_label)
        for series in answer.series
    )


def _first(labels: Mapping[str, str], names: Sequence[str]) -> str:
    """Give the first of these labels that a series has."""
    return next((labels[name] for name in names if labels.get(name)), "")


def _sample(parts: Mapping[str, str], at: Instant, fresh_s: float) -> Sample:
    age = reading(parts.get(AGE), at, may_be_negative=True).x
    if age is not None and age > fresh_s:
        return Stale(age)
    sample = reading(parts[VALUE], at - max(0.0, age or 0.0))
    if isinstance(sample, Bad) and not (COUNT in parts and reading(parts[COUNT], at).x == 0):
        return sample
    if age is None:
        return NO_LONGER
    return IDLE if isinstance(sample, Bad) else sample
