"""Metrics: no data is not zero, the queue always exists, and the documentation names them all."""

import re
from math import isnan
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from controlplane.domain.load import silent
from controlplane.domain.quantities import Micros, ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane
from controlplane.domain.samples import Absence, Bad, NoData, Stale, Value, Zero
from controlplane.telemetry.by_model import why
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.metrics import Metrics
from tests.builders import CHAT, a_class_load, a_load

DOC = Path(__file__).parents[2] / "docs" / "metrics.md"


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def metrics(registry: CollectorRegistry) -> Metrics:
    return Metrics(registry)


def queue(registry: CollectorRegistry, model: str = CHAT, priority: str = "high") -> float | None:
    labels = {"model": model, "priority": priority}
    return registry.get_sample_value("controlplane_queue_depth", labels)


def missing(registry: CollectorRegistry) -> set[tuple[str, str, str]]:
    return {
        (s.labels["priority"], s.labels["signal"], s.labels["why"])
        for family in registry.collect()
        if family.name == "controlplane_signal_missing"
        for s in family.samples
    }


def test_the_queue_exists_as_zero_for_every_catalogued_model_from_the_start(
    metrics: Metrics, registry: CollectorRegistry
) -> None:
    """K6: a scaler that reads it before the first cycle finds a number."""
    metrics.catalogued([CHAT, ModelName("sdxl")])

    assert [queue(registry, m, p) for m in ("chat", "sdxl") for p in ("high", "medium", "low")] == [
        0.0
    ] * 6


def test_cataloguing_again_keeps_what_was_measured(
    metrics: Metrics, registry: CollectorRegistry
) -> None:
    metrics.load(a_load(a_class_load(queue=7.0)), drain_s=2.0)
    metrics.catalogued([CHAT])

    assert queue(registry) == 7.0


def test_an_unknown_signal_is_no_number_and_says_why(
    metrics: Metrics, registry: CollectorRegistry
) -> None:
    metrics.load(silent(CHAT, 0.0), drain_s=None)

    value = queue(registry)
    assert value is not None
    assert isnan(value)
    assert ("high", "queue", "NotYet") in missing(registry)
    assert ("", "kv_usage", "NotYet") in missing(registry)
    drain = registry.get_sample_value("controlplane_drain_seconds", {"model": CHAT})
    assert drain is not None
    assert isnan(drain)


def test_a_signal_that_returns_is_no_longer_missing(
    metrics: Metrics, registry: CollectorRegistry
) -> None:
    metrics.load(a_load(a_class_load(queue=Stale(40.0))), drain_s=None)
    before = missing(registry)
    metrics.load(a_load(a_class_load(queue=NoData(Absence.UNREACHABLE))), drain_s=None)
    between = missing(registry)
    metrics.load(a_load(a_class_load(queue=3.0)), drain_s=1.0)

    assert ("high", "queue", "Stale") in before
    assert {row for row in between if row[1] == "queue"} == {("high", "queue", "Unreachable")}
    assert not {row for row in missing(registry) if row[1] == "queue"}
    assert queue(registry) == 3.0


@pytest.mark.parametrize(
    ("sample", "word"),
    [
        (Value(1.0, 0.0), ""),
        (Zero(0.0), ""),
        (NoData(Absence.FORBIDDEN), "Forbidden"),
        (Stale(3.0), "Stale"),
        (Bad("NaN"), "Bad"),
    ],
)
def test_each_kind_of_sample_has_its_word(sample: Value, word: str) -> None:
    assert why(sample) == word


def test_decisions_endings_and_cycles_are_counted(
    metrics: Metrics, registry: CollectorRegistry
) -> None:
    metrics.decided("scaling", ReasonCode.DRAIN_TOO_SLOW)
    metrics.ended("scaling", "done")
    metrics.cycle("scaling", 0.002)
    metrics.cycle("scaling", 0.2, failed=True)

    value = registry.get_sample_value
    code = {"loop": "scaling", "code": "DrainTooSlow"}
    assert value("controlplane_decisions_total", code) == 1
    assert value("controlplane_endings_total", {"loop": "scaling", "ending": "done"}) == 1
    assert value("controlplane_cycle_failures_total", {"loop": "scaling"}) == 1
    assert value("controlplane_cycle_seconds_count", {"loop": "scaling"}) == 2
    assert value("controlplane_cycle_seconds_bucket", {"loop": "scaling", "le": "0.003"}) == 1


def test_a_lane_that_is_not_named_has_none(metrics: Metrics, registry: CollectorRegistry) -> None:
    metrics.replicas(CHAT, {Lane.SERVING: 4, Lane.DRAINING: 1})
    metrics.replicas(CHAT, {Lane.SERVING: 5})

    told = {
        lane: registry.get_sample_value("controlplane_replicas", {"model": CHAT, "lane": str(lane)})
        for lane in Lane
    }
    assert told == {Lane.LOADING: 0, Lane.WARM: 0, Lane.SERVING: 5, Lane.DRAINING: 0}


def test_costs_are_replaced_as_a_whole(metrics: Metrics, registry: CollectorRegistry) -> None:
    metrics.costs({(CHAT, "serving"): Micros(3_000_000), ("", "idle"): Micros(1)})
    metrics.costs({(CHAT, "warm"): Micros(500_000)})

    cost = "controlplane_cost_per_hour"
    assert registry.get_sample_value(cost, {"model": CHAT, "kind": "warm"}) == 0.5
    assert registry.get_sample_value(cost, {"model": CHAT, "kind": "serving"}) is None


def test_a_model_that_left_the_catalogue_leaves_the_metrics(
    metrics: Metrics, registry: CollectorRegistry
) -> None:
    other = ModelName("sdxl")
    for model in (CHAT, other):
        metrics.load(a_load(model=model), drain_s=1.0)
        metrics.standing(model, 3, slo_broken=False)
    metrics.forget(CHAT)

    models = {s.labels.get("model") for family in registry.collect() for s in family.samples}
    assert "chat" not in models
    assert "sdxl" in models


def test_a_silent_loop_shows_when_scraped(metrics: Metrics) -> None:
    heartbeats = Heartbeats()
    heartbeats.beat("scaling", 5.0, now=100.0)
    heartbeats.beat("spare", 5.0, now=115.0)

    text = metrics.scraped(heartbeats, now=117.0).decode()

    assert 'controlplane_heartbeat_age_seconds{loop="scaling"} 17.0' in text
    assert 'controlplane_loop_silent{loop="scaling"} 1.0' in text
    assert 'controlplane_loop_silent{loop="spare"} 0.0' in text


def test_every_metric_is_documented_and_every_documented_one_exists(
    metrics: Metrics, registry: CollectorRegistry
) -> None:
    suffix = {"counter": "_total", "info": "_info"}
    exported = {f.name + suffix.get(f.type, ""): f.type for f in registry.collect()}
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", DOC.read_text(), re.MULTILINE)

    assert {name: kind for name, kind, _ in rows} == exported
    labels = {
        family._name: set(family._labelnames)
        for family in vars(metrics).values()
        if hasattr(family, "_labelnames")
    }
    labels |= {f.name: set(f._labelnames) for f in metrics.by_model.collect()}
    told = {name.removesuffix("_total"): set(re.findall(r"`(\w+)`", l)) for name, _, l in rows}
    assert {name: told[name] for name in labels} == labels
