"""The series of every model, made from what was seen last when somebody scrapes, not before.

Loops look at every model every few seconds, Prometheus asks every fifteen or so, often nobody at
all. So a cycle only leaves what it saw here, and a scrape turns it into numbers.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import nan
from typing import NamedTuple

from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector

from controlplane.domain.load import ModelLoad
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import ModelName
from controlplane.domain.replicas import Lane
from controlplane.domain.samples import Bad, NoData, Sample, Stale

PER_CLASS = {
    "queue": ("queue_depth", "Requests waiting."),
    "arrivals": ("arrivals_per_second", "Requests arriving."),
    "turned_away": ("turned_away_per_second", "Refused for room."),
    "wait_p99": ("wait_p99_seconds", "P99, arrival to slot."),
    "latency_p99": ("latency_p99_seconds", "P99, to last byte."),
}
PER_MODEL = {
    "in_flight": ("in_flight", "Busy slots."),
    "service_s": ("service_seconds", "Mean time a slot is held."),
    "kv_usage": ("kv_cache_ratio", "KV cache in use, 0..1."),
    "vram": ("vram_ratio", "Device memory in use, 0..1."),
    "utilisation": ("utilisation_ratio", "Busy devices, 0..1."),
    "device_health": ("healthy_devices_ratio", "Devices that are well, 0..1."),
}


class Standing(NamedTuple):
    """The target in force for one model, and whether it keeps its promise."""

    target: int
    slo_broken: bool


class ByModel(Collector):
    """What the loops saw of each model last."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self.catalogued: Iterable[ModelName] = ()
        self.standings: dict[ModelName, Standing] = {}
        self.lanes: dict[ModelName, Mapping[str, int]] = {}
        self.loads: dict[ModelName, ModelLoad] = {}
        self.drains: dict[ModelName, float | None] = {}

    def forget(self, model: ModelName) -> None:
        """Drop a model that left the catalogue."""
        for seen in (self.standings, self.lanes, self.loads, self.drains):
            seen.pop(model, None)

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Give the families; the registry checks their names with it."""
        return ByModel().collect()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Give every series as it stands now."""
        yield from self._standing()
        yield self._replicas()
        drain = _family("drain_seconds", "Time the queue needs to drain.", "model")
        for model, drain_s in self.drains.items():
            drain.add_metric((model,), nan if drain_s is None else drain_s)
        yield drain
        missing = _family(
            "signal_missing", "1 while a signal is not known.", "model", "priority", "signal", "why"
        )
        yield from self._of_models(missing)
        yield from self._of_classes(missing)
        yield missing

    def _standing(self) -> Iterator[GaugeMetricFamily]:
        target = _family("target_replicas", "Replicas wanted in service.", "model")
        broken = _family("slo_broken", "1 while an objective is broken.", "model")
        for model, standing in self.standings.items():
            target.add_metric((model,), standing.target)
            broken.add_metric((model,), int(standing.slo_broken))
        yield target
        yield broken

    def _replicas(self) -> GaugeMetricFamily:
        """Give the replicas by lane; a lane that is not named has none."""
        replicas = _family("replicas", "Replicas by lane.", "model", "lane")
        for model, lanes in self.lanes.items():
            for lane in Lane:
                replicas.add_metric((model, lane), lanes.get(lane, 0))
        return replicas

    def _of_models(self, missing: GaugeMetricFamily) -> Iterator[GaugeMetricFamily]:
        for signal, (name, what) in PER_MODEL.items():
            family = _family(name, what, "model")
            for model, load in self.loads.items():
                sample = getattr(load, signal)
                family.add_metric((model,), _number(sample))
                _note(missing, (model, "", signal), sample)
            yield family

    def _of_classes(self, missing: GaugeMetricFamily) -> Iterator[GaugeMetricFamily]:
        for signal, (name, what) in PER_CLASS.items():
            family = _family(name, what, "model", "priority")
            for model, load in self.loads.items():
                for priority, of_class in load.classes.items():
                    sample = getattr(of_class, signal)
                    family.add_metric((model, priority), _number(sample))
                    _note(missing, (model, priority, signal), sample)
            if signal == "queue":
                self._unseen(family)
            yield family

    def _unseen(self, queue: GaugeMetricFamily) -> None:
        """Let the queue exist as 0 where nobody has looked yet."""
        for model in self.catalogued:
            if model not in self.loads:
                for priority in PRIORITIES:
                    queue.add_metric((model, priority), 0.0)


def _family(name: str, what: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"controlplane_{name}", what, labels=labels)


def _number(sample: Sample) -> float:
    return nan if sample.x is None else sample.x


def _note(missing: GaugeMetricFamily, place: tuple[str, str, str], sample: Sample) -> None:
    said = why(sample)
    if said:
        missing.add_metric((*place, said), 1.0)


def why(sample: Sample) -> str:
    """Give in one word why a sample is no number; empty when it is one."""
    match sample:
        case NoData(why=absence):
            return str(absence)
        case Stale():
            return "Stale"
        case Bad():
            return "Bad"
        case _:
            return ""
