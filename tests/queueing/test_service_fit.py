from math import inf
from random import Random
from statistics import fmean, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from controlplane.queueing.service_fit import Lognormal, Moments, Pareto, moments, tail_shape

TIMES = st.lists(st.floats(0.001, 1000), min_size=2, max_size=50)


@given(TIMES)
def test_moments_are_mean_and_variance(times: list[float]) -> None:
    seen = moments(times)

    assert seen.mean == pytest.approx(fmean(times))
    assert seen.scv == pytest.approx(variance(times) / fmean(times) ** 2, abs=1e-9)


@given(TIMES, TIMES)
def test_joined_moments_are_those_of_both_sets(some: list[float], others: list[float]) -> None:
    joined, whole = moments(some).joined(moments(others)), moments(some + others)

    assert joined.count == whole.count
    assert joined.mean == pytest.approx(whole.mean)
    assert joined.scv == pytest.approx(whole.scv, abs=1e-9)


def test_before_two_values_the_service_time_counts_as_exponential() -> None:
    assert moments([]).scv == moments([3.0]).scv == 1.0
    assert Moments().joined(Moments()) == Moments()


@pytest.mark.parametrize("scv", [0.25, 1.0, 4.0])
def test_fitted_families_have_the_moments_they_were_fitted_to(scv: float) -> None:
    for family in (Lognormal.fitting(0.5, scv), Pareto.fitting(0.5, scv)):
        assert family.mean == pytest.approx(0.5)
        assert family.scv == pytest.approx(scv)


@pytest.mark.parametrize("shape", [1.0, 1.5, 2.0, 2.2, 3.0])
@pytest.mark.parametrize("power", [1, 2])
def test_moments_of_a_clipped_pareto_are_its_integrals(shape: float, power: int) -> None:
    family = Pareto(shape, 0.07, 15.0)
    # E[S^p] = smallest^p + integral of p x^(p-1) P(S > x)
    tail, _ = quad(lambda x: power * x ** (power - 1) * (0.07 / x) ** shape, 0.07, 15.0, limit=200)

    assert family.moment(power) == pytest.approx(0.07**power + tail, rel=1e-6)


def test_a_pareto_tail_too_heavy_has_no_moment() -> None:
    assert Pareto(1.9, 0.1).moment(2) == inf
    assert Pareto(2.0, 0.1).moment(2) == inf


def test_the_chat_scenario_s_service_time_loses_a_thousandth_by_clipping() -> None:
    """0.125 s before clipping at 15 s; the figure is the integral of the tail up to 15 s."""
    assert Pareto.of_mean(0.125, 2.2, 15.0).mean == pytest.approx(0.124912, abs=1e-6)


def test_the_tail_s_shape_is_found_again() -> None:
    rng = Random(5)
    values = [rng.paretovariate(2.2) for _ in range(50_000)]

    assert tail_shape(values) == pytest.approx(2.2, rel=0.05)


@pytest.mark.parametrize("values", [[], [1.0], [2.0] * 100])
def test_too_few_or_equal_values_have_no_tail(values: list[float]) -> None:
    assert tail_shape(values) is None
