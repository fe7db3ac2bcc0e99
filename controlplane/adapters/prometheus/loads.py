"""Loads from what the queries gave: joined with the replicas that live, folded model by model.

A pod that is gone may haunt a store for minutes; what is not in service now does not count (S7). A
percentile that lies below an engine's first bucket cannot be told from its histogram: what is known
is that it is not above that bucket, and where the promise is stricter, nothing.
"""

from collections.abc import Iterable, Mapping, Sequence

from controlplane.adapters.prometheus.reading import NO_LONGER, Key
from controlplane.decide.signals.gathering import class_of, gathered
from controlplane.domain.catalogue import Model
from controlplane.domain.fleet import FleetView, replicas_by_model
from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.samples import IDLE, Absence, NoData, Sample, Value, reading
from controlplane.domain.sources import SignalName
from controlplane.render.engine_metrics import ENGINES, EngineMetrics

SUMS: tuple[SignalName, ...] = ("queue", "in_flight", "arrivals", "turned_away")
MEANS: tuple[SignalName, ...] = ("kv_usage", "vram", "utilisation", "device_health")
BY_MODEL: tuple[SignalName, ...] = ("latency_p99", "wait_p99", "service_s")
SIGNALS: tuple[SignalName, ...] = (*SUMS, *MEANS, *BY_MODEL)

Found = Mapping[SignalName, Mapping[Key, Sample] | Sample]  # a sample: the query itself failed
NOBODY = NoData(Absence.EMPTY, "no replica in service")


def samples_of(
    name: ModelName, model: Model, found: Found, view: FleetView
) -> dict[SignalName, Sample]:
    """Give one model's samples."""
    serving = [r.name for r in replicas_by_model(view.replicas).get(name, ()) if r.serving]
    return {signal: sample_of((name, model), signal, found, serving) for signal in SIGNALS}


def sample_of(
    named: tuple[ModelName, Model], signal: SignalName, found: Found, serving: Sequence[str]
) -> Sample:
    """Give one sample of one model."""
    engine = ENGINES[named[1].serving.engine]
    rows = found.get(signal)
    if signal == "vram" and engine.preallocates:
        return NoData(Absence.NOT_EXPORTED, "the engine takes all memory at its start")
    if rows is None:
        return NoData(Absence.NOT_EXPORTED, wanted(engine, signal))
    if not isinstance(rows, Mapping):
        return rows
    if signal in BY_MODEL:
        return _of_model(named, signal, rows)
    return _of_replicas(engine, signal, found, serving) if serving else NOBODY


def _of_replicas(
    engine: EngineMetrics, signal: SignalName, found: Found, serving: Sequence[str]
) -> Sample:
    rows = found[signal]
    by_replica = [
        rows.get(Key(replica, "")) if isinstance(rows, Mapping) else None for replica in serving
    ]
    if all(sample is None for sample in by_replica):
        return NoData(_absence(found, serving), wanted(engine, signal))
    missing = NoData(Absence.EMPTY, "no series of this replica")
    parts = len(serving) if signal in SUMS else 1
    return gathered([missing if sample is None else sample for sample in by_replica], parts)


def model_load(
    name: ModelName, model: Model, samples: Mapping[SignalName, Sample], at: Instant
) -> ModelLoad:
    """Put a model's load together; all of it is of the class that stands for all."""
    of_class = ClassLoad(
        queue=samples["queue"],
        arrivals=samples["arrivals"],
        arrivals_steady=samples["arrivals"],
        turned_away=samples["turned_away"],
        wait_p99=samples["wait_p99"],
        latency_p99=samples["latency_p99"],
    )
    return ModelLoad(
        model=name,
        at=at,
        classes={class_of(model.policy): of_class},
        in_flight=samples["in_flight"],
        service_s=samples["service_s"],
        kv_usage=samples["kv_usage"],
        vram=samples["vram"],
        utilisation=samples["utilisation"],
        device_health=samples["device_health"],
    )


def wanted(engine: EngineMetrics, signal: SignalName) -> str:
    """Name the metrics that were looked for (S8)."""
    names: Mapping[str, Iterable[str | None]] = {
        "queue": engine.waiting,
        "in_flight": engine.running,
        "kv_usage": engine.kv_usage,
        "turned_away": (engine.refused,),
        "arrivals": (f"{engine.latency}_count" if engine.latency else engine.ended,),
        "latency_p99": (engine.latency,),
        "wait_p99": (engine.queue_time,),
        "service_s": (engine.inference, engine.latency),
        "utilisation": ("DCGM_FI_DEV_GPU_UTIL", "npu_chip_info_utilization"),
        "vram": ("DCGM_FI_DEV_FB_USED", "npu_chip_info_hbm_used_memory"),
        "device_health": ("npu_chip_info_health_status", "DCGM_FI_DEV_XID_ERRORS"),
    }
    told = ", ".join(name for name in names[signal] if name)
    return told or "this engine has no metric of it"


def _absence(found: Found, serving: Sequence[str]) -> Absence:
    """Tell an engine that does not export a metric from one that is not scraped at all."""
    for rows in found.values():
        if isinstance(rows, Mapping) and any(
            rows.get(Key(replica, ""), NO_LONGER) != NO_LONGER for replica in serving
        ):
            return Absence.NOT_EXPORTED
    return Absence.EMPTY


def _of_model(
    named: tuple[ModelName, Model], signal: SignalName, rows: Mapping[Key, Sample]
) -> Sample:
    name, model = named
    engine = ENGINES[model.serving.engine]
    sample = rows.get(Key("", name), rows.get(Key("", model.serving.served_name or name)))
    if sample is None:
        return NoData(Absence.EMPTY, f"{wanted(engine, signal)} of a series that names {name}")
    if signal == "service_s":
        return IDLE if sample.x is None and not isinstance(sample, NoData) else sample
    least = engine.least_bucket_s
    if not isinstance(sample, Value) or sample.x > least:
        return sample
    promises = [
        o.wait_p99_s if signal == "wait_p99" else o.latency_p99_s
        for o in model.policy.objectives.values()
    ]
    strictest = min((limit for limit in promises if limit is not None), default=None)
    if strictest is not None and strictest < least:
        note = f"at most {least:g} s, the finest bucket there is; {strictest:g} s is promised"
        return NoData(Absence.NOT_EXPORTED, note)
    return reading(least, sample.at)
