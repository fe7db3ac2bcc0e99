"""PromQL: one query a signal for the whole fleet, which gives values and their ages together.

A query gives rows of several parts, told apart by the label `part`: `value`, `age` (seconds since
the last scrape, by Prometheus's own clock, so that ours may be wrong), and for percentiles `count`
(requests a second behind them: a percentile of none is NaN, and that is no fault).

Gauges and rates come by replica, so that they can be joined with the pods that live (a deleted pod
may haunt a store for minutes). Histograms are added up over the replicas of a model first, for a
percentile of percentiles means nothing; hence the label that names the model.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from controlplane.domain.serving import EngineKind
from controlplane.domain.sources import PrometheusSource, SignalName
from controlplane.render.engine_metrics import (
    BUSY,
    ENGINES,
    HEALTHY,
    MEMORY,
    XID,
    EngineMetrics,
)

VALUE, AGE, COUNT = "value", "age", "count"
PART, REPLICA, NAMESPACE, MODEL = "part", "replica", "ns", "model"
BY_REPLICA = (NAMESPACE, REPLICA)


@dataclass(frozen=True, slots=True)
class Wording:
    """How series are selected and joined: the labels of one Prometheus."""

    source: PrometheusSource

    @property
    def window(self) -> str:
        """The window of rates."""
        return f"{self.source.window_s}s"

    def select(self, selector: str) -> str:
        """Select series, with the labels all of them must have."""
        name, _, inside = selector.partition("{")
        matchers = [inside.rstrip("}")] if inside else []
        matchers += [f"{key}={quoted(value)}" for key, value in sorted(self.source.only.items())]
        return f"{name}{{{','.join(matchers)}}}" if matchers else name

    def by_replica(self, expression: str) -> str:
        """Name replica and namespace the same, whatever the exporter calls them."""
        for target, labels in (
            (REPLICA, self.source.pod_labels),
            (NAMESPACE, self.source.namespace_labels),
        ):
            for label in reversed(labels):  # the last one that matches stays
                expression = f'label_replace({expression},"{target}","$1","{label}","(.+)")'
        return expression

    def by_model(self, expression: str) -> str:
        """Name the model the same."""
        label = self.source.model_label
        return f'label_replace({expression},"{MODEL}","$1","{label}","(.+)")'


def query(signal: SignalName, kinds: Iterable[EngineKind], source: PrometheusSource) -> str:
    """Give the query of one signal for engines of these kinds; empty where none exports it."""
    words = Wording(source)
    engines = [ENGINES[kind] for kind in sorted(set(kinds))]
    pairs = {
        "queue": lambda: _gauges(words, engines, "waiting"),
        "in_flight": lambda: _gauges(words, engines, "running"),
        "kv_usage": lambda: _gauges(words, engines, "kv_usage"),
        "arrivals": lambda: _arrivals(words, engines),
        "turned_away": lambda: _refusals(words, engines),
        "latency_p99": lambda: _percentiles(words, engines, "latency"),
        "wait_p99": lambda: _percentiles(words, engines, "queue_time"),
        "service_s": lambda: _service(words, engines),
        "utilisation": lambda: _busy(words),
        "vram": lambda: _memory(words),
        "device_health": lambda: _health(words),
    }[signal]()
    return " or ".join(pairs)


def quoted(value: str) -> str:
    """Write a string as PromQL does."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _part(part: str, expression: str) -> str:
    return f'label_replace({expression},"{PART}","{part}","","")'


def _parts(values: Sequence[str], ages: Sequence[str]) -> list[str]:
    """Give values and ages; of several values for one replica the first that is there counts."""
    if not values:
        return []
    return [_part(VALUE, f"({' or '.join(values)})"), _part(AGE, f"({' or '.join(ages)})")]


def _age(words: Wording, selector: str, fold: str = "max") -> str:
    """Give the age of series by replica; `timestamp` knows it of plain selectors only."""
    aged = words.by_replica(f"(time()-timestamp({words.select(selector)}))")
    return f"{fold} by(ns,replica)({aged})"


def _gauges(words: Wording, engines: Sequence[EngineMetrics], field: str) -> list[str]:
    values, ages = [], []
    for engine in engines:
        for selector in getattr(engine, field):
            fold = "max" if field == "kv_usage" else engine.fold
            joined = words.by_replica(words.select(selector))
            values.append(f"{fold} by(ns,replica)({joined})")
            ages.append(_age(words, selector))
    return _parts(values, ages)


def _rate(words: Wording, selector: str) -> str:
    rate = f"rate({words.select(selector)}[{words.window}])"
    return f"sum by(ns,replica)({words.by_replica(rate)})"


def _arrivals(words: Wording, engines: Sequence[EngineMetrics]) -> list[str]:
    """Give what came: what ended, and what the requests inside grew by (a gauge has no rate)."""
    values, ages = [], []
    for engine in engines:
        counter = f"{engine.latency}_count" if engine.latency else engine.ended
        if counter is None:
            continue
        came = _rate(words, counter)
        for selector in (*engine.waiting[:1], *engine.running[:1]):
            slope = words.by_replica(f"deriv({words.select(selector)}[{words.window}])")
            came = f"({came}+({engine.fold} by(ns,replica)({slope})))"
        values += [f"clamp_min({came},0)", _rate(words, counter)]
        ages.append(_age(words, counter))
    return _parts(values, ages)


def _refusals(words: Wording, engines: Sequence[EngineMetrics]) -> list[str]:
    known = [engine.refused for engine in engines if engine.refused]
    return _parts([_rate(words, each) for each in known], [_age(words, each) for each in known])


def _percentiles(words: Wording, engines: Sequence[EngineMetrics], field: str) -> list[str]:
    values, ages, counts = [], [], []
    for engine in engines:
        name = getattr(engine, field)
        if name is None:
            continue
        buckets = words.by_model(f"rate({words.select(f'{name}_bucket')}[{words.window}])")
        values.append(f"histogram_quantile(0.99,sum by(model,le)({buckets}))")
        ended = words.by_model(f"rate({words.select(f'{name}_count')}[{words.window}])")
        counts.append(f"sum by(model)({ended})")
        aged = words.by_model(f"(time()-timestamp({words.select(f'{name}_count')}))")
        ages.append(f"min by(model)({aged})")
    parts = _parts(values, ages)
    return [*parts, _part(COUNT, f"({' or '.join(counts)})")] if parts else []


def _service(words: Wording, engines: Sequence[EngineMetrics]) -> list[str]:
    """Give how long a request holds its slot: time in inference, else latency without waiting."""
    values, ages = [], []

    def total(name: str, kind: str) -> str:
        rate = words.by_model(f"rate({words.select(f'{name}_{kind}')}[{words.window}])")
        return f"sum by(model)({rate})"

    for engine in engines:
        if engine.latency is None:
            continue
        if engine.inference is not None:
            values.append(f"{total(engine.inference, 'sum')}/{total(engine.inference, 'count')}")
        if engine.queue_time is not None:
            held = f"({total(engine.latency, 'sum')}-{total(engine.queue_time, 'sum')})"
            values.append(f"{held}/{total(engine.latency, 'count')}")
        values.append(f"{total(engine.latency, 'sum')}/{total(engine.latency, 'count')}")
        aged = words.by_model(f"(time()-timestamp({words.select(f'{engine.latency}_count')}))")
        ages.append(f"min by(model)({aged})")
    return _parts(values, ages)


def _busy(words: Wording) -> list[str]:
    values = [
        f"avg by(ns,replica)({words.by_replica(words.select(name))})/{whole:g}"
        for name, whole in BUSY
    ]
    return _parts(values, [_age(words, name) for name, _ in BUSY])


def _memory(words: Wording) -> list[str]:
    (used, free), (npu_used, npu_total) = MEMORY
    dcgm, npu = (
        f"avg by(ns,replica)({words.by_replica(share)})"
        for share in (
            f"({words.select(used)}/({words.select(used)}+{words.select(free)}))",
            f"({words.select(npu_used)}/{words.select(npu_total)})",
        )
    )
    return _parts([dcgm, npu], [_age(words, used), _age(words, npu_used)])


def _health(words: Wording) -> list[str]:
    """Give the share of a replica's devices that are well; -1, not known, is no number."""
    npu = words.by_replica(f"({words.select(HEALTHY)}>=0)")
    xid = words.by_replica(f"({words.select(XID)}==bool 0)")
    values = [f"avg by(ns,replica)({each})" for each in (npu, xid)]
    return _parts(values, [_age(words, HEALTHY), _age(words, XID)])
