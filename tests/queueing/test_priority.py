from math import exp, inf
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

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

    assert [fmean(waited) for waited in simulated] == pytest.approx(waits, rel=0.1)


@pytest.mark.parametrize(("slots", "arrivals"), [(4, [16.0, 4.0, 4.0]), (14, [40.0, 28.0, 20.0])])
def test_the_p99s_are_those_of_a_simulation(slots: int, arrivals: list[float]) -> None:
    simulated = waits_by_class(arrivals, lambda rng: rng.expovariate(8.0), slots, 150_000, seed=4)
    found = [quantile(waited, 0.99) for waited in simulated]
    high, medium, low = priority.wait_quantiles(arrivals, SERVICE, slots, 0.99)

    assert found[0] == pytest.approx(high, rel=0.07)
    assert found[1] == pytest.approx(medium, rel=0.12)
    assert found[2] == pytest.approx(low, rel=0.15)


@given(
    arrivals=st.lists(st.floats(0.1, 20), min_size=1, max_size=3),
    slots=st.integers(1, 20),
    share=st.floats(0.5, 0.9999),
    scv=st.floats(0, 5),
)
def test_a_quantile_is_where_the_tail_has_fallen_to_the_rest(
    arrivals: list[float], slots: int, share: float, scv: float
) -> None:
    waits = priority.wait_quantiles(arrivals, SERVICE, slots, share, scv)
    finite = [wait if wait < inf else 0.0 for wait in waits]
    tails = priority.waits_beyond(arrivals, SERVICE, slots, finite, scv)

    for wait, tail in zip(waits, tails, strict=True):
        if wait == inf:
            assert tail == 1.0
        elif wait == 0.0:
            assert tail <= 1.0 - share + 1e-9
        else:
            assert tail == pytest.approx(1.0 - share, rel=1e-6)


def test_the_highest_class_waits_as_if_it_were_alone_once_all_slots_are_busy() -> None:
    """Exact: P(W > t) = C exp(-(k mu - lambda) t)."""
    high, _ = priority.waits_beyond([12.0, 16.0], SERVICE, 4, [0.2, 1.0])

    assert high == pytest.approx(erlang.erlang_c(4, 3.5) * exp(-(32.0 - 12.0) * 0.2))


def test_the_tail_s_area_is_cobham_s_mean() -> None:
    arrivals = [12.0, 8.0, 8.0]
    means = priority.mean_waits(arrivals, SERVICE, 4)
    for rank in range(3):

        def tail(t: float, rank: int = rank) -> float:
            return priority.waits_beyond(arrivals, SERVICE, 4, [t] * 3)[rank]

        assert quad(tail, 0, 60, limit=400)[0] == pytest.approx(means[rank], rel=1e-4)


def test_a_class_beyond_the_slots_waits_for_ever_and_idle_slots_for_nobody() -> None:
    assert priority.wait_quantiles([40.0], SERVICE, 4, 0.99) == (inf,)
    assert priority.waits_beyond([10.0, 30.0], SERVICE, 4, [0.5, 0.5])[1] == 1.0
    assert priority.wait_quantiles([0.0, 0.0], SERVICE, 4, 0.99) == (0.0, 0.0)
    assert priority.wait_quantiles([10.0], SERVICE, 4, 1.0) == (inf,)
