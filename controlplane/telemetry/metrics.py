"""What Prometheus may scrape about the daemon and its fleet. The registry is injected, not global.

Loops report here after each cycle; nothing here decides. A signal that is not known has no number:
its series is NaN and `controlplane_signal_missing` says which one and why (law 1). The one
exception is the queue, which exists as 0 for every catalogued model before anybody asked, so that
rules and scalers that read it never find an empty result. Every metric is explained in
docs/metrics.md, and a test keeps it so.
"""

from collections.abc import Iterable, Mapping
from math import nan

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client import Info as Label
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from controlplane import __version__
from controlplane.domain.load import ModelLoad
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import MICROS_PER_UNIT, Micros, ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane
from controlplane.domain.samples import Bad, NoData, Sample, Stale, number
from controlplane.telemetry.heartbeats import Heartbeats

CYCLE_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
PER_CLASS = ("queue", "arrivals", "turned_away", "wait_p99", "latency_p99")
PER_MODEL = ("in_flight", "service_s", "kv_usage", "vram", "utilisation")
CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """All metrics of one daemon."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        """Register everything with `registry`, or with a new one."""
        self.registry = registry or CollectorRegistry()
        self._why: dict[tuple[str, str, str], str] = {}  # why a signal was missing, last time
        self._gauges: dict[tuple[str, str, str], Gauge] = {}
        Label("controlplane_build", "Version of the daemon.", registry=self.registry).info(
            {"version": __version__}
        )
        self._loops()
        self._models()
        self._fleet()

    def _loops(self) -> None:
        self.decisions = self._counter("decisions", "Decisions by decisive code.", "loop", "code")
        self.endings = self._counter("endings", "How acting on decisions ended.", "loop", "ending")
        self.failures = self._counter("cycle_failures", "Cycles that failed.", "loop")
        self.cycles = Histogram(
            "controlplane_cycle_seconds",
            "Real time one cycle of a loop took.",
            ("loop",),
            buckets=CYCLE_BUCKETS,
            registry=self.registry,
        )
        self.heartbeat = self._gauge("heartbeat_age_seconds", "Since a loop's last cycle.", "loop")
        self.silent = self._gauge("loop_silent", "1 while a loop has been silent too long.", "loop")
        self.requests = self._counter(
            "http_requests", "Requests to pages and API.", "method", "route", "status"
        )
        self.watching = self._gauge("feed_clients", "Pages connected to the live feed.")
        self.dropped = self._counter("feed_dropped", "Feed clients dropped for being too slow.")

    def _models(self) -> None:
        model, by_class = ("model",), ("model", "priority")
        self.target = self._gauge("target_replicas", "Replicas wanted in service.", *model)
        self.lanes = self._gauge("replicas", "Replicas by lane.", "model", "lane")
        self.drain = self._gauge("drain_seconds", "Time the queue needs to drain.", *model)
        self.broken = self._gauge("slo_broken", "1 while an objective is broken.", *model)
        self.missing = self._gauge(
            "signal_missing", "1 while a signal is not known.", "model", "priority", "signal", "why"
        )
        self.by_class = {
            "queue": self._gauge("queue_depth", "Requests waiting.", *by_class),
            "arrivals": self._gauge("arrivals_per_second", "Requests arriving.", *by_class),
            "turned_away": self._gauge("turned_away_per_second", "Refused for room.", *by_class),
            "wait_p99": self._gauge("wait_p99_seconds", "P99, arrival to slot.", *by_class),
            "latency_p99": self._gauge("latency_p99_seconds", "P99, to last byte.", *by_class),
        }
        self.by_model = {
            "in_flight": self._gauge("in_flight", "Busy slots.", *model),
            "service_s": self._gauge("service_seconds", "Mean time a slot is held.", *model),
            "kv_usage": self._gauge("kv_cache_ratio", "KV cache in use, 0..1.", *model),
            "vram": self._gauge("vram_ratio", "Device memory in use, 0..1.", *model),
            "utilisation": self._gauge("utilisation_ratio", "Busy devices, 0..1.", *model),
        }

    def _fleet(self) -> None:
        self.devices = self._gauge("devices", "Devices by state.", "node_class", "state")
        self.cost = self._gauge("cost_per_hour", "In the catalogue's currency.", "model", "kind")
        self.acting = self._gauge("acting", "1 when decisions are acted on, 0 in advisory mode.")
        self.leading = self._gauge("leading", "1 on the daemon that leads; the others only show.")
        self.version = self._gauge("catalogue_version", "Version of the catalogue in force.")
        self.refused = self._gauge("catalogue_refused", "1 while a newer catalogue is refused.")

    def _gauge(self, name: str, what: str, *labels: str) -> Gauge:
        return Gauge(f"controlplane_{name}", what, labels, registry=self.registry)

    def _counter(self, name: str, what: str, *labels: str) -> Counter:
        return Counter(f"controlplane_{name}", what, labels, registry=self.registry)

    # ------------------------------------------------------------------ what loops report

    def catalogued(self, models: Iterable[ModelName]) -> None:
        """Make the queue series of every catalogued model exist, as 0 where none was seen yet."""
        for model in models:
            for priority in PRIORITIES:
                self.by_class["queue"].labels(model, priority)

    def cycle(self, loop: str, seconds: float, *, failed: bool = False) -> None:
        """Note how long a cycle took and whether it failed."""
        self.cycles.labels(loop).observe(seconds)
        self.failures.labels(loop).inc(int(failed))

    def decided(self, loop: str, code: ReasonCode | None) -> None:
        """Count a decision by the code that decided it."""
        self.decisions.labels(loop, code or "").inc()

    def ended(self, loop: str, ending: str) -> None:
        """Count how acting ended."""
        self.endings.labels(loop, ending).inc()

    def standing(self, model: ModelName, target: int, *, slo_broken: bool) -> None:
        """Note the target in force."""
        self.target.labels(model).set(target)
        self.broken.labels(model).set(int(slo_broken))

    def replicas(self, model: ModelName, lanes: Mapping[str, int]) -> None:
        """Note the replicas of a model by lane; a lane that is not named has none."""
        for lane in Lane:
            self.lanes.labels(model, lane).set(lanes.get(lane, 0))

    def load(self, load: ModelLoad, drain_s: float | None) -> None:
        """Note a model's samples of this cycle."""
        self.drain.labels(load.model).set(nan if drain_s is None else drain_s)
        for name in PER_MODEL:
            self._sample(load.model, "", name, getattr(load, name), self.by_model[name])
        for priority, of_class in load.classes.items():
            for name in PER_CLASS:
                sample = getattr(of_class, name)
                self._sample(load.model, priority, name, sample, self.by_class[name])

    def _sample(self, model: str, priority: str, name: str, sample: Sample, gauge: Gauge) -> None:
        place = (model, priority, name)
        child = self._gauges.get(place)  # looking one up by its labels takes ten times as long
        if child is None:
            child = gauge.labels(model, priority) if priority else gauge.labels(model)
            self._gauges[place] = child
        x = number(sample)
        child.set(nan if x is None else x)
        said, now = self._why.get(place, ""), why(sample)
        if said == now:  # mostly: a series is only touched when its reason changes
            return
        if said:
            self.missing.remove(*place, said)
        if now:
            self.missing.labels(*place, now).set(1)
        self._why[place] = now

    def inventory(self, node_class: str, *, held: int, devices: int) -> None:
        """Note the devices of a class."""
        self.devices.labels(node_class, "held").set(held)
        self.devices.labels(node_class, "free").set(devices - held)

    def costs(self, by_model_and_kind: Mapping[tuple[str, str], Micros]) -> None:
        """Replace what an hour costs now; "" is the model of devices nobody holds."""
        self.cost.clear()
        for (model, kind), amount in by_model_and_kind.items():
            self.cost.labels(model, kind).set(amount / MICROS_PER_UNIT)

    def forget(self, model: ModelName) -> None:
        """Drop the series of a model that left the catalogue."""
        self._why = {place: said for place, said in self._why.items() if place[0] != model}
        self._gauges = {place: of for place, of in self._gauges.items() if place[0] != model}
        families = (self.target, self.lanes, self.drain, self.broken, self.missing, self.cost)
        for family in (*families, *self.by_class.values(), *self.by_model.values()):
            family.remove_by_labels({"model": model})

    def scraped(self, heartbeats: Heartbeats, now: float) -> bytes:
        """Give the text to be scraped; `now` is the event loop's time, as in heartbeats."""
        for loop, beat in heartbeats.beats.items():
            age = now - beat.last
            self.heartbeat.labels(loop).set(age)
            self.silent.labels(loop).set(beat.silent(now))
        return generate_latest(self.registry)


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
