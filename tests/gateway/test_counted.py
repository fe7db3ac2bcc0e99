"""What was counted, as loads for scaling and as metrics for Prometheus."""

import re
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest

from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.samples import IDLE, NoData, Value, Zero, number
from controlplane.gateway.breakers import Breakers
from controlplane.gateway.counts import Counts
from controlplane.gateway.exposed import GatewayMetrics
from controlplane.gateway.loads import Loads
from controlplane.gateway.messages import Counted
from controlplane.gateway.past import Past
from controlplane.gateway.tally import ClassTally, quantile

CHAT = ModelName("chat")


def counted(arrived: int, *, waits: int = 0, refused: int = 0, queued: int = 0) -> Counted:
    tallies = [ClassTally() for _ in PRIORITIES]
    high = tallies[0]
    high.arrived, high.queued = arrived, queued
    high.refused = {ReasonCode.QUEUE_FULL.value: refused, ReasonCode.DEADLINE_PASSED.value: refused}
    for _ in range(waits):
        high.wait.add(0.012)
        high.latency.add(0.5)
        high.ended += 1
        high.held_s += 0.4
    return Counted(models={CHAT: tallies}, unplaced={"UnknownModel": 2})


def test_nothing_is_known_before_there_are_two_looks() -> None:
    load = Loads(Past(Counts().sums)).loads([CHAT], 0.0)[CHAT]

    assert isinstance(load.classes[Priority.HIGH].queue, NoData)


def test_loads_are_what_lies_between_two_looks() -> None:
    counts = Counts()
    past = Past(counts.sums)
    past.note(0.0)
    counts.take(0, counted(100, waits=99, refused=10, queued=3))
    past.note(5.0)
    load = Loads(past).loads([CHAT], 5.0)[CHAT]

    high = load.classes[Priority.HIGH]
    assert number(high.arrivals) == 20.0
    assert number(high.turned_away) == 2.0  # for want of capacity; a passed deadline is none
    assert number(high.queue) == 3.0
    assert number(high.wait_p99) == 0.015  # the upper edge of its bucket
    assert (
        load.service_s == Value(0.4000000000000001, 5.0)
        or abs((number(load.service_s) or 0) - 0.4) < 1e-9
    )
    low = load.classes[Priority.LOW]
    assert low.arrivals == Zero(5.0)
    assert low.wait_p99 == IDLE


def test_news_is_the_latest_until_the_next_look_and_no_look_itself() -> None:
    counts = Counts()
    past = Past(counts.sums)
    past.note(0.0)
    counts.take(0, counted(5))
    past.note(5.0)
    counts.take(0, counted(6, queued=1))
    past.note_news(5.2)
    load = Loads(past).loads([CHAT], 5.2)[CHAT]
    past.note(6.0)

    assert number(load.classes[Priority.HIGH].queue) == 1.0
    assert past.latest == (6.0, counts.sums())
    assert past.before(CHAT, 5.5)[0] == 5.0


def test_news_before_the_first_look_is_not_known_yet() -> None:
    past = Past(dict)
    past.note_news(0.5)

    assert past.latest is None


def test_what_a_worker_had_counted_survives_it_and_nothing_waits_there() -> None:
    counts = Counts()
    counts.take(0, counted(100, queued=3))
    counts.ended(0)
    counts.take(0, counted(1, queued=1))

    high = counts.sums()[CHAT][0]
    assert (high.arrived, high.queued) == (101, 1)
    assert counts.unplaced == {"UnknownModel": 4}


def test_two_workers_are_added_up_without_changing_either() -> None:
    counts = Counts()
    counts.take(0, counted(100))
    counts.take(1, counted(50))

    assert counts.sums()[CHAT][0].arrived == 150
    assert counts.sums()[CHAT][0].arrived == 150


def test_quantiles_are_upper_edges() -> None:
    assert quantile([0] * 32, 0.99) is None
    assert quantile([50, 50] + [0] * 30, 0.5) == 0.001
    assert quantile([50, 50] + [0] * 30, 0.51) == 0.002


def exposed(counts: Counts) -> CollectorRegistry:
    registry = CollectorRegistry()
    breakers = Breakers(lambda _choice: None)
    registry.register(GatewayMetrics(counts, breakers, lambda: [CHAT]))
    return registry


def test_every_series_is_there_as_zero_from_the_start() -> None:
    registry = exposed(Counts())
    labels = {"model": CHAT, "priority": "low"}

    assert registry.get_sample_value("controlplane_gateway_arrived_total", labels) == 0
    assert registry.get_sample_value("controlplane_gateway_queued", labels) == 0
    refused = {**labels, "reason": "QueueFull"}
    assert registry.get_sample_value("controlplane_gateway_refused_total", refused) == 0
    bucket = {**labels, "le": "0.001"}
    assert registry.get_sample_value("controlplane_gateway_wait_seconds_bucket", bucket) == 0
    closed = {"model": CHAT, "state": "closed"}
    assert registry.get_sample_value("controlplane_gateway_breaker", closed) == 1


def test_histograms_are_cumulative_and_end_in_infinity() -> None:
    counts = Counts()
    counts.take(0, counted(100, waits=99))
    text = generate_latest(exposed(counts)).decode()
    labels = 'model="chat",priority="high"'

    assert f'wait_seconds_bucket{{le="0.01",{labels}}} 0.0' in text
    assert f'wait_seconds_bucket{{le="0.015",{labels}}} 99.0' in text
    assert f'wait_seconds_bucket{{le="+Inf",{labels}}} 99.0' in text
    assert f"controlplane_gateway_wait_seconds_count{{{labels}}} 99.0" in text


def test_every_metric_is_documented_with_its_type_and_labels() -> None:
    doc = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text()
    rows = re.findall(r"^\| `(controlplane_gateway_\w+)` \| (\w+) \| (.*?) \|", doc, re.MULTILINE)
    counts = Counts()
    counts.take(0, counted(1, waits=1))
    exported = {
        f"{f.name}{'_total' if f.type == 'counter' else ''}": (
            f.type,
            {label for sample in f.samples for label in sample.labels} - {"le"},
        )
        for f in exposed(counts).collect()
    }

    assert {name: (kind, set(re.findall(r"`(\w+)`", of))) for name, kind, of in rows} == exported
