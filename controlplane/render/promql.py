"""PromQL: one query a signal for the whole fleet, which gives values and their ages together.

A query gives rows of several parts, told apart by the label `part`: `value`, `age` (seconds since
the last scrape, by Prometheus's own clock, so that ours may be wrong), and for percentiles `count`
(requests a second behind them: a percentile of none is NaN, and that is no fault).

Gauges and rates come by whatever labels may name the replica, so that they can be joined with the
pods that live (a deleted pod may haunt a store for minutes). Histograms are added up over the
replicas of a model first, for a percentile of percentiles means nothing; hence the label that names
the model.
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
    folded,
)

VALUE, AGE, COUNT = "value", "age", "count"
PART = "part"


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

    @property
    def replica(self) -> str:
        """The labels that may name a replica and its namespace: whichever of them a series has."""
        return ",".join((*self.source.pod_labels, *self.source.namespace_labels))

    @property
    def model(self) -> str:
        """The label that names the model."""
        return self.source.model_label


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


def _by_replica(words: Wording, fold: str, expression: str) -> str:
    return f"{fold} by({words.replica})({expression})"


def _by_model(words: Wording, fold: str, expression: str, more: str = "") -> str:
    return f"{fold} by({words.model}{more})({expression})"


def _since(words: Wording, selector: str) -> str:
    """Give the age of series; `timestamp` knows it of plain selectors only."""
    return f"time()-timestamp({words.select(selector)})"


def _age(words: Wording, selector: str) -> str:
    return _by_replica(words, "max", _since(words, selector))


def _gauges(words: Wording, engines: Sequence[EngineMetrics], field: str) -> list[str]:
    values, ages = [], []
    for engine in engines:
        for selector in getattr(engine, field):
            share = field == "kv_usage"
            values.append(folded(engine, words.replica, words.select(selector), share=share))
            ages.append(_age(words, selector))
    return _parts(values, ages)


def _over_window(words: Wording, function: str, selector: str) -> str:
    return f"{function}({words.select(selector)}[{words.window}])"


def _rate(words: Wording, selector: str) -> str:
    return _by_replica(words, "sum", _over_window(words, "rate", selector))


def _arrivals(words: Wording, engines: Sequence[EngineMetrics]) -> list[str]:
    """Give what came: what ended, and what the requests inside grew by (a gauge has no rate)."""
    values, ages = [], []
    for engine in engines:
        counter = f"{engine.latency}_count" if engine.latency else engine.ended
        if counter is None:
            continue
        came = _rate(words, counter)
        for selector in (*engine.waiting[:1], *engine.running[:1]):
            slope = _over_window(words, "deriv", selector)
            came = f"({came}+{folded(engine, words.replica, slope)})"
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
        buckets = _over_window(words, "rate", f"{name}_bucket")
        summed = _by_model(words, "sum", buckets, ",le")
        values.append(f"histogram_quantile(0.99,{summed})")
        counts.append(_by_model(words, "sum", _over_window(words, "rate", f"{name}_count")))
        ages.append(_by_model(words, "min", _since(words, f"{name}_count")))
    parts = _parts(values, ages)
    return [*parts, _part(COUNT, f"({' or '.join(counts)})")] if parts else []


def _service(words: Wording, engines: Sequence[EngineMetrics]) -> list[str]:
    """Give how long a request holds its slot: time in inference, else latency without waiting."""
    values, ages = [], []

    def total(name: str, kind: str) -> str:
        return _by_model(words, "sum", _over_window(words, "rate", f"{name}_{kind}"))

    for engine in engines:
        if engine.latency is None:
            continue
        if engine.inference is not None:
            values.append(f"{total(engine.inference, 'sum')}/{total(engine.inference, 'count')}")
        if engine.queue_time is not None:
            held = f"({total(engine.latency, 'sum')}-{total(engine.queue_time, 'sum')})"
            values.append(f"{held}/{total(engine.latency, 'count')}")
        values.append(f"{total(engine.latency, 'sum')}/{total(engine.latency, 'count')}")
        ages.append(_by_model(words, "min", _since(words, f"{engine.latency}_count")))
    return _parts(values, ages)


def _busy(words: Wording) -> list[str]:
    values = [f"{_by_replica(words, 'avg', words.select(name))}/{whole:g}" for name, whole in BUSY]
    return _parts(values, [_age(words, name) for name, _ in BUSY])


def _memory(words: Wording) -> list[str]:
    (used, free), (npu_used, npu_total) = MEMORY
    dcgm, npu = (
        _by_replica(words, "avg", share)
        for share in (
            f"{words.select(used)}/({words.select(used)}+{words.select(free)})",
            f"{words.select(npu_used)}/{words.select(npu_total)}",
        )
    )
    return _parts([dcgm, npu], [_age(words, used), _age(words, npu_used)])


def _health(words: Wording) -> list[str]:
    """Give the share of a replica's devices that are well; -1, not known, is no number."""
    well = (f"{words.select(HEALTHY)}>=0", f"{words.select(XID)}==bool 0")
    values = [_by_replica(words, "avg", each) for each in well]
    return _parts(values, [_age(words, HEALTHY), _age(words, XID)])
