from math import exp, inf, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson

from controlplane.queueing import erlang
from controlplane.queueing.little import drain_time, occupancy, time_in_system

LOADS = (0.05, 0.3, 0.5, 0.8, 0.9, 0.96, 0.99, 0.9999)


@pytest.mark.parametrize("slots", [1, 2, 5, 14, 23, 24, 25, 56, 224, 1000, 2000])
@pytest.mark.parametrize("per_slot", LOADS)
def test_erlang_b_is_the_truncated_poisson_probability(slots: int, per_slot: float) -> None:
    load = slots * per_slot
    truth = exp(poisson.logpmf(slots, load) - poisson.logcdf(slots, load))

    assert erlang.erlang_b(slots, load) == pytest.approx(truth, rel=2e-6, abs=1e-280)


@pytest.mark.parametrize(
    ("slots", "load", "published"),
    [
        (10, 5.0, 0.0184),  # Erlang B tables: 5 erlangs on 10 lines
        (20, 12.03, 0.01),
        (50, 37.9, 0.01),
        (100, 84.06, 0.01),
    ],
)
def test_erlang_b_gives_the_figures_of_the_published_tables(
    slots: int, load: float, published: float
) -> None:
    assert erlang.erlang_b(slots, load) == pytest.approx(published, rel=0.005)


def test_one_slot_waits_with_the_probability_that_it_is_busy() -> None:
    assert erlang.erlang_c(1, 0.7) == pytest.approx(0.7)


def test_m_m_1_waits_rho_over_mu_minus_lambda() -> None:
    arrivals, service = 7.0, 0.1

    assert erlang.mean_wait(arrivals, service, 1) == pytest.approx(0.7 / (10.0 - 7.0))


def test_m_m_2_waits_as_its_closed_form_says() -> None:
    arrivals, service = 1.5, 1.0  # rho = 0.75, Wq = rho^2 / (1 - rho^2) x service

    assert erlang.mean_wait(arrivals, service, 2) == pytest.approx(0.75**2 / (1 - 0.75**2))


def test_the_quantile_is_where_the_tail_has_fallen_to_the_rest() -> None:
    p99 = erlang.wait_quantile(20.0, 0.125, 3, 0.99)

    assert erlang.wait_beyond(20.0, 0.125, 3, p99) == pytest.approx(0.01)


def test_a_quantile_below_the_share_that_waits_at_all_is_zero() -> None:
    assert erlang.erlang_c(56, 25.0) < 0.01
    assert erlang.wait_quantile(200.0, 0.125, 56, 0.99) == 0.0


@pytest.mark.parametrize("load", [4.0, 4.5])
def test_too_much_load_waits_for_ever(load: float) -> None:
    assert erlang.mean_wait(load, 1.0, 4) == inf
    assert erlang.wait_quantile(load, 1.0, 4, 0.99) == inf
    assert erlang.wait_beyond(load, 1.0, 4, 1e9) == 1.0
    assert erlang.erlang_c(4, load) == 1.0


def test_no_load_never_waits_even_without_slots() -> None:
    assert erlang.mean_wait(0.0, 1.0, 0) == 0.0
    assert erlang.wait_quantile(0.0, 1.0, 4, 0.99) == 0.0
    assert erlang.wait_beyond(0.0, 1.0, 4, 0.0) == 0.0
    assert erlang.erlang_b(0, 0.0) == 1.0
    assert erlang.wait_quantile(1.0, 0.1, 4, 1.0) == inf  # nothing bounds the longest of all


@given(slots=st.integers(1, 3000), per_slot=st.floats(0.001, 0.9999))
def test_more_slots_never_make_waiting_likelier(slots: int, per_slot: float) -> None:
    load = slots * per_slot
    now, one_more = erlang.erlang_c(slots, load), erlang.erlang_c(slots + 1, load)

    assert 0.0 <= one_more <= now * (1 + 3e-6) <= 1.0 + 3e-6


def test_drain_time_is_queue_over_throughput() -> None:
    assert drain_time(queue=600, service_s=0.1, slots=4) == pytest.approx(15.0)
    assert drain_time(queue=5, service_s=0.0022, slots=1) == pytest.approx(0.011)
    assert drain_time(queue=1, service_s=0.1, slots=0) == inf
    assert drain_time(queue=0, service_s=0.1, slots=0) == 0.0


def test_occupancy_counts_the_load_against_the_slots() -> None:
    assert isclose(occupancy(350, 0.125, 56), 43.75 / 56)
    assert occupancy(1, 1, 0) == inf
    assert occupancy(0, 1, 0) == 0.0


def test_what_never_leaves_stays_for_ever() -> None:
    assert time_in_system(3, 0) == inf
    assert time_in_system(0, 0) == 0.0
