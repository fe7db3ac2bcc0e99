from math import inf
from statistics import fmean

import pytest

from controlplane.queueing import erlang, priority
from controlplane.queueing.percentiles import quantile
from tests.queueing.waiting_room import waits_by_class

SERVICE = 0.125


def test_one_class_waits_as_m_m_k_says() -> None:
    (wait,) = priority.mean_waits([300.0], SERVICE, 56)

    assert wait == pytest.approx(erlang.mean_wait(300.0, SERVICE, 56))


def test_priorities_move_waiting_from_class_to_class_and_make_none() -> None:
    """Kleinrock's conservation law: weighted by load, the mean wait is that of one FIFO."""
    arrivals = [10.0, 8.0, 9.0]
    waits = priority.mean_waits(arrivals, SERVICE, 4)

    mixed = sum(rate * wait for rate, wait in zip(arrivals, waits, strict=True)) / sum(arrivals)
    assert mixed == pytest.approx(erlang.mean_wait(sum(arrivals), SERVICE, 4))
    assert waits[0] < waits[1] < waits[2]


def test_cobham_s_one_server_by_hand() -> None:
    """Two classes, 0.2/s and 0.3/s, exponential service of 1 s: W0 = 0.5, W1 = 0.5 / 0.8."""
    high, low = priority.mean_waits_one_slot([0.2, 0.3], [1.0, 1.0], [1.0, 1.0])

    assert high == pytest.approx(0.625)
    assert low == pytest.approx(0.5 / (0.8 * 0.5))


def test_pollaczek_and_khinchine_s_wait_is_the_case_of_one_class() -> None:
    (wait,) = priority.mean_waits_one_slot([4.0], [0.2], [3.0])

    assert wait == pytest.approx(0.8 * 0.2 * (1 + 3.0) / 2 / (1 - 0.8))


def test_endless_low_leaves_high_the_residual_of_a_busy_slot() -> None:
    high, low = priority.mean_waits([10.0, 1e6], SERVICE, 4)
    (alone, other) = priority.mean_waits_one_slot([4.0, 1e6], [SERVICE] * 2, [1.0] * 2)

    assert (low, other) == (inf, inf)
    assert high == pytest.approx(SERVICE / 4 / (1 - 10.0 * SERVICE / 4))
    assert alone == pytest.approx(SERVICE / (1 - 0.5))


def test_the_waits_are_those_of_a_simulation() -> None:
    arrivals = [12.0, 8.0, 8.0]  # 28 x 0.125 = 3.5 of 4 slots
    simulated = waits_by_class(arrivals, lambda rng: rng.expovariate(8.0), 4, 150_000, seed=3)
    waits = priority.mean_waits(arrivals, SERVICE, 4)

    assert [fmean(waited) for waited in simulated] == pytest.approx(waits, rel=0.08)


def test_the_p99_of_the_highest_class_is_that_of_a_simulation() -> None:
    arrivals = [12.0, 16.0]
    simulated = waits_by_class(arrivals, lambda rng: rng.expovariate(8.0), 4, 150_000, seed=4)
    p99 = priority.first_class_wait_quantile(arrivals, SERVICE, 4, 0.99)

    assert quantile(simulated[0], 0.99) == pytest.approx(p99, rel=0.05)


def test_a_highest_class_beyond_the_slots_waits_for_ever() -> None:
    assert priority.first_class_wait_quantile([40.0], SERVICE, 4, 0.99) == inf
