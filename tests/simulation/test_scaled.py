"""A scenario made to fit a machine: what stays the same when there is less of it, and faster."""

from heapq import heapify, heapreplace
from math import sqrt

import numpy as np
import pytest

from controlplane.domain.quantities import ModelName
from controlplane.queueing.percentiles import quantile
from controlplane.settings import FaultsError
from controlplane.simulation.expected import expected, front_door
from controlplane.simulation.library import load_scenario
from controlplane.simulation.scaled import Scale, Scaled, scaled

CHAT = ModelName("chat-70b")
SEED_000 = load_scenario("seed-000")
RATES = (200.0, 150.0)  # high and medium, all the time
SIGMAS = 5.0


def drawn(seed: int = 1, **scale: float) -> Scaled:
    return scaled(SEED_000, CHAT, seed, Scale(**scale))


def per_second(load: Scaled, rank: int) -> float:
    return int((load.requests.rank == rank).sum()) / load.seconds


@pytest.mark.parametrize("share", [0.1, 1.0, 2.5])
def test_a_share_of_the_requests_comes_and_each_holds_its_slot_as_long(share: float) -> None:
    load = drawn(share=share, squeeze=10, seconds=60)

    for rank, rate in enumerate(RATES):
        sigma = sqrt(share * rate / load.seconds)
        assert per_second(load, rank) == pytest.approx(share * rate, abs=SIGMAS * sigma)
    law = load.model.streams["chat"].service.law
    assert law is not None
    assert load.service_s == pytest.approx(law.mean, rel=0.1)


def test_a_squeezed_calendar_brings_the_burst_sooner_at_the_rate_it_had() -> None:
    load = drawn(share=0.5, squeeze=60, seconds=60)  # 30 to 32 s is what 1800 to 1920 s were
    low = load.requests.at[load.requests.rank == 2]

    assert 30 <= low.min() < 30.1
    assert 31.9 < low.max() <= 32
    assert len(low) / 2 == pytest.approx(400, abs=SIGMAS * sqrt(400 / 2))


def test_what_is_played_later_is_the_same_load_from_there() -> None:
    whole = drawn(share=0.2, squeeze=60, seconds=40)
    later = drawn(share=0.2, squeeze=60, begin_s=25, seconds=15)

    from_there = whole.requests.at[whole.requests.at >= 25] - 25
    assert np.allclose(later.requests.at, from_there)


def test_the_same_seed_gives_the_same_load_and_another_gives_another() -> None:
    one, again, other = (drawn(seed, share=0.1, seconds=5) for seed in (1, 1, 2))

    assert np.array_equal(one.requests.at, again.requests.at)
    assert not np.array_equal(one.requests.at, other.requests.at)


def test_slots_are_held_for_whole_tokens() -> None:
    held = drawn(share=0.1, seconds=10).in_steps(0.05).requests.service_s

    assert np.allclose(held / 0.05, np.rint(held / 0.05))
    assert held.min() >= 0.05


def test_nothing_is_played_beyond_the_scenarios_end() -> None:
    with pytest.raises(FaultsError) as refused:
        drawn(squeeze=60, begin_s=100, seconds=30)

    assert list(refused.value.lines) == [
        "--begin, --seconds: 100 to 130 s: the scenario lasts 120 s at squeeze 60"
    ]


def waits_in_one_queue(load: Scaled, slots: int) -> list[float]:
    """Kiefer and Wolfowitz: whoever is next takes the slot that is free first."""
    free = [0.0] * slots
    heapify(free)
    waits = []
    requests = load.requests
    for at, service_s in zip(requests.at.tolist(), requests.service_s.tolist(), strict=True):
        begins = max(at, free[0])
        heapreplace(free, begins + service_s)
        waits.append(begins - at)
    return waits


def test_virtual_time_says_what_one_queue_comes_to() -> None:
    load = drawn(share=1 / 7, squeeze=60, begin_s=25, seconds=10)

    found = expected(SEED_000.scenario, CHAT, load, (1, 8), fifo=True)

    waits, ranks = waits_in_one_queue(load, 8), load.requests.rank
    for rank, name in enumerate(("high", "medium", "low")):
        mine = [wait for wait, of in zip(waits, ranks.tolist(), strict=True) if of == rank]
        assert found[name]["arrived"] == len(mine)
        assert found[name]["wait_p99_s"] == pytest.approx(quantile(mine, 0.99), rel=0.02)
        assert found[name]["wait_max_s"] == pytest.approx(max(mine), rel=1e-3)


def test_high_waits_far_less_where_it_goes_first() -> None:
    load = drawn(share=1 / 7, squeeze=60, begin_s=25, seconds=10)
    fifo, ours = (
        expected(SEED_000.scenario, CHAT, load, (1, 8), fifo=one)["high"]["wait_p99_s"]
        for one in (True, False)
    )

    assert fifo > 20 * ours
    assert front_door(SEED_000.scenario, CHAT, 1, 8).queue_bounds == load.model.queue_bounds
