"""What the world counts, against plain computations from the same requests."""

from typing import Any

import numpy as np
import pytest

from controlplane.domain.actions import SetReplicas
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.samples import IDLE, NOT_YET, NoData, Value, Zero, number
from controlplane.simulation.world import Histogram, Tally, World
from tests.decide.admission.door import Door
from tests.simulation.world.fleets import (
    CHAT,
    GPU,
    START,
    Row,
    Rows,
    a_catalogue,
    a_model,
    a_world,
    pass_to,
    poisson,
)

CROWDED = {0: 3.0, 1: 2.0, 2: 4.0}  # per second, on 8 slots of 1 s


def crowded_world(rows: list[Row], size: int = 1000, slots: int = 4, **spec: Any) -> World:
    catalogue = a_catalogue({CHAT: a_model(AdmissionPolicy(reserve=1), slots=slots)})
    traffic = {CHAT: Rows(rows, size)}
    return a_world(catalogue=catalogue, serving=2, traffic=traffic, **spec)


def test_every_request_starts_when_an_independent_front_door_starts_it() -> None:
    rows = [(at, rank, 1.0) for at, rank, _ in poisson(3, 200.0, CROWDED, 1.0)]
    world = crowded_world(rows)
    pass_to(world, 400.0)
    door = Door(AdmissionPolicy(reserve=1), slots=8, ready=2, service_s=1.0)
    door.run(((at, str(n), rank) for n, (at, rank, _) in enumerate(rows)), until=400.0)

    for rank, priority in enumerate(PRIORITIES):
        tally = world.tally(CHAT).classes[priority]
        waits = [s.wait for s in door.started if s.rank == rank]
        assert tally.arrived == sum(r == rank for _, r, _ in rows)
        assert tally.served == len(waits)
        assert tally.wait.total == pytest.approx(sum(waits))
        assert tally.wait.max == pytest.approx(max(waits))
        refused = sum(rows[int(name)][1] == rank for name, _ in door.refused)
        assert sum(tally.rejected.values()) == refused


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("step", [0.3, 50.0])
def test_the_result_does_not_depend_on_chunks_nor_on_how_often_one_looks(
    size: int, step: float
) -> None:
    rows = poisson(5, 60.0, CROWDED, 1.0)
    plain, other = crowded_world(rows), crowded_world(rows, size)
    pass_to(plain, 90.0)
    second = 0.0
    while second < 90.0:
        second = min(second + step, 90.0)
        pass_to(other, second)
        other.observe()

    assert figures(plain.tally(CHAT)) == pytest.approx(figures(other.tally(CHAT)))


def figures(tally: Tally) -> list[float]:
    flat = [tally.busy_slot_s, tally.billed_slot_s, tally.device_s]
    for c in tally.classes.values():
        flat += [c.arrived, c.served, c.in_time, c.wait.total, c.latency.total, c.latency.max]
    return flat


def test_a_request_that_got_a_slot_at_once_is_in_time_and_one_that_waited_may_not_be() -> None:
    rows = [(0.0, 0, 1.0), (0.0, 0, 1.0), (0.95, 0, 1.0), (0.95, 0, 1.0), (1.5, 0, 1.0)]
    world = a_world(rows)
    pass_to(world, 10.0)
    high = world.tally(CHAT).classes[Priority.HIGH]

    # Waits: 0, 0, 0.05, 0.05, 0.5 against a limit of 0.1.
    assert (high.served, high.in_time) == (5, 4)
    assert high.wait.max == pytest.approx(0.5)
    assert world.tally(CHAT).first_breach_at == pytest.approx(START + 1.6)


def test_a_request_turned_away_is_the_breach_and_capacity_after_it_the_reaction() -> None:
    bounds = dict.fromkeys(PRIORITIES, 1)
    model = a_model(AdmissionPolicy(reserve=0, queue_bounds=bounds))
    rows = [(10.0, 2, 500.0)] * 4
    world = a_world(rows, a_catalogue({CHAT: model}), self_serving=True)
    pass_to(world, 20.0)
    assert world.tally(CHAT).reaction_s is None
    from_now(world)
    pass_to(world, 60.0)
    tally = world.tally(CHAT)

    assert tally.classes[Priority.LOW].rejected == {ReasonCode.QUEUE_FULL: 1}
    assert (tally.first_breach_at, tally.first_added_serving_at) == (START + 10, START + 52)
    assert (tally.reaction_s, tally.max_serving) == (42.0, 2)


def from_now(world: World) -> None:
    """Grow by one: 30 s to load, 2 s to enter service."""
    world.apply(SetReplicas(CHAT, GPU, 2))


def test_slots_and_devices_are_billed_from_creation_and_busy_time_up_to_now() -> None:
    world = a_world([(5.0, 0, 100.0)], serving=1, self_serving=True)
    pass_to(world, 10.0)
    from_now(world)
    pass_to(world, 25.0)
    tally = world.tally(CHAT)

    assert tally.busy_slot_s == pytest.approx(20.0)
    assert tally.billed_slot_s == pytest.approx(2 * (25.0 + 15.0))
    assert tally.device_s == pytest.approx(25.0 + 15.0)


def test_a_look_gives_rates_since_the_last_look_and_the_queue_now() -> None:
    rows = [(0.1 * n, 1, 4.0) for n in range(200)]  # 10/s for 20 s, on 2 slots
    world = a_world(rows)
    first = world.observe().loads[CHAT].classes[Priority.MEDIUM]
    assert first.arrivals is NOT_YET
    pass_to(world, 5.0)
    world.observe()
    pass_to(world, 15.0)
    load = world.observe().loads[CHAT].classes[Priority.MEDIUM]

    assert load.arrivals == Value(10.0, START + 15)
    assert load.queue == Value(100.0, START + 15)
    # 150 arrived by 15.0 (the first at 0), 2 + 2 x 3 started, 100 wait, the rest were refused
    assert number(load.turned_away) == pytest.approx((151 - 8 - 100) / 10.0, abs=0.2)
    assert load.arrivals_steady is NOT_YET  # a minute is not over
    assert world.observe().loads[CHAT].classes[Priority.LOW].wait_p99 is IDLE


def test_the_steady_rate_covers_its_whole_window() -> None:
    rows = [(0.5 * n, 0, 0.1) for n in range(400)]
    world = a_world(rows)
    for second in range(5, 100, 5):
        pass_to(world, float(second))
        world.observe()
    pass_to(world, 100.0)
    load = world.observe().loads[CHAT]

    assert load.classes[Priority.HIGH].arrivals_steady == Value(2.0, START + 100)
    assert number(load.service_s) == pytest.approx(0.1)


@pytest.mark.parametrize("slots", [8, 160])  # few requests, and many
def test_p99s_are_the_real_ones_of_the_last_15_seconds(slots: int) -> None:
    rows = poisson(11, 60.0, {0: 0.9 * slots}, 1.0)
    world = crowded_world(rows, slots=slots // 2)
    pass_to(world, 37.0)
    world.observe()
    pass_to(world, 60.0)
    load = world.observe().loads[CHAT].classes[Priority.HIGH]
    starts = first_come_first_served(rows, slots)
    waits = [s - at for (at, _, _), s in zip(rows, starts, strict=True) if 45.0 < s <= 60.0]
    latencies = [
        s + service - at
        for (at, _, service), s in zip(rows, starts, strict=True)
        if 45.0 < s + service <= 60.0
    ]

    assert number(load.wait_p99) == pytest.approx(nearest_rank(waits))
    assert number(load.latency_p99) == pytest.approx(nearest_rank(latencies))


def first_come_first_served(rows: list[Row], slots: int) -> list[float]:
    free = [0.0] * slots
    starts = []
    for at, _, service in rows:
        free.sort()
        start = max(at, free[0])
        free[0] = start + service
        starts.append(start)
    return starts


def nearest_rank(values: list[float]) -> float:
    return sorted(values)[int(np.ceil(0.99 * len(values))) - 1]


def test_idle_and_unknown_are_told_apart() -> None:
    world = a_world()
    world.observe()
    pass_to(world, 10.0)
    load = world.observe().loads[CHAT]

    assert load.classes[Priority.HIGH].arrivals == Zero(START + 10)
    assert load.classes[Priority.HIGH].latency_p99 is IDLE
    assert load.service_s is IDLE
    assert isinstance(load.kv_usage, NoData)
    assert load.utilisation == Zero(START + 10)


def test_quantiles_of_a_histogram_are_within_one_percent() -> None:
    seconds = np.random.default_rng(1).lognormal(-2.0, 1.5, 20_000)
    histogram = Histogram()
    histogram.add(seconds)
    for q in (0.01, 0.5, 0.9, 0.99, 0.999):
        exact = np.sort(seconds)[int(np.ceil(q * len(seconds))) - 1]
        assert histogram.quantile(q) == pytest.approx(exact, rel=0.01)
    assert histogram.quantile(1.0) == pytest.approx(seconds.max(), rel=0.01)
    assert histogram.max == seconds.max()
    assert histogram.mean == pytest.approx(seconds.mean())
    histogram.add_zeros(20_000)
    assert histogram.quantile(0.5) == 0.0
    assert Histogram().quantile(0.5) is None


def test_under_fifo_classes_count_for_nothing() -> None:
    rows = [(0.0, 0, 5.0)] * 2 + [(1.0, 2, 1.0), (1.1, 0, 1.0)] + [(1.2, 1, 0.1)] * 300
    catalogue: Catalogue = a_catalogue()
    world = a_world(rows, catalogue, fifo=True)
    pass_to(world, 200.0)
    tally = world.tally(CHAT)

    assert tally.classes[Priority.LOW].wait.max == pytest.approx(4.0)
    assert tally.classes[Priority.HIGH].wait.max == pytest.approx(3.9)
    assert tally.classes[Priority.MEDIUM].rejected == {}
    assert tally.classes[Priority.MEDIUM].served == 300
