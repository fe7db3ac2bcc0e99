"""What Prometheus may scrape about the daemon and its fleet. The registry is injected, not global.

Loops report here after each cycle; nothing here decides. What they saw of each model becomes series
only when somebody scrapes (`by_model`). A signal that is not known has no number:
its series is NaN and `controlplane_signal_missing` says which one and why (law 1). The one
exception is the queue, which exists as 0 for every catalogued model before anybody asked, so that
rules and scalers that read it never find an empty result. Every metric is explained in
docs/metrics.md, and a test keeps it so.
"""

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client import Info as Label
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from controlplane import __version__
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import MICROS_PER_UNIT, ClassName, Micros, ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.telemetry.by_model import ByModel, Standing
from controlplane.telemetry.heartbeats import Heartbeats

CYCLE_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """All metrics of one daemon."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        """Register everything with `registry`, or with a new one."""
        self.registry = registry or CollectorRegistry()
        self.by_model = ByModel()
        self.registry.register(self.by_model)
        Label("controlplane_build", "Version of the daemon.", registry=self.registry).info(
            {"version": __version__}
        )
        self._loops()
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

    def _fleet(self) -> None:
        self.wanted = self._gauge(
            "wanted_replicas", "Pods wanted, where another sizes.", "model", "node_class"
        )
        self.devices = self._gauge("devices", "Devices by state.", "node_class", "state")
        self.cost = self._gauge("cost_per_hour", "In the catalogue's currency.", "model", "kind")
        self.acting = self._gauge("acting", "1 when decisions are acted on, 0 in advisory mode.")
        self.leading = self._gauge("leading", "1 on the daemon that leads; the others only show.")
        self.gateways = self._gauge("gateways_joined", "Gateways that joined this daemon.")
        self.version = self._gauge("catalogue_version", "Version of the catalogue in force.")
        self.refused = self._gauge("catalogue_refused", "1 while a newer catalogue is refused.")

    def _gauge(self, name: str, what: str, *labels: str) -> Gauge:
        return Gauge(f"controlplane_{name}", what, labels, registry=self.registry)

    def _counter(self, name: str, what: str, *labels: str) -> Counter:
        return Counter(f"controlplane_{name}", what, labels, registry=self.registry)

    # ------------------------------------------------------------------ what loops report

    def catalogued(self, models: Iterable[ModelName]) -> None:
        """Make the queue series of every catalogued model exist, as 0 where none was seen yet."""
        self.by_model.catalogued = models

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
        self.by_model.standings[model] = Standing(target, slo_broken)

    def sizes(self, wanted: Mapping[ModelName, Mapping[ClassName, int]]) -> None:
        """Replace the sizes of variants that somebody else sizes by them."""
        self.wanted.clear()
        for model, by_class in wanted.items():
            for node_class, count in by_class.items():
                self.wanted.labels(model, node_class).set(count)

    def replicas(self, model: ModelName, lanes: Mapping[str, int]) -> None:
        """Note the replicas of a model by lane; a lane that is not named has none."""
        self.by_model.lanes[model] = lanes

    def load(self, load: ModelLoad, drain_s: float | None) -> None:
        """Note a model's samples of this cycle."""
        self.by_model.loads[load.model] = load
        self.by_model.drains[load.model] = drain_s

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
        self.by_model.forget(model)
        self.cost.remove_by_labels({"model": model})

    def scraped(self, heartbeats: Heartbeats, now: float) -> bytes:
        """Give the text to be scraped; `now` is the event loop's time, as in heartbeats."""
        for loop, beat in heartbeats.beats.items():
            age = now - beat.last
            self.heartbeat.labels(loop).set(age)
            self.silent.labels(loop).set(beat.silent(now))
        return generate_latest(self.registry)
