"""Service times against the formulas of their laws."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest

from controlplane.simulation.service_times import (
    Exponential,
    Fixed,
    Law,
    Lognormal,
    Pareto,
    ServiceTime,
    TokenCount,
    Tokens,
)
from controlplane.simulation.streams import generator

N = 400_000


@pytest.mark.parametrize(
    ("law", "mean", "cv"),
    [
        pytest.param(Fixed(mean_s=0.2), 0.2, 0.0, id="fixed"),
        pytest.param(Exponential(mean_s=0.2), 0.2, 1.0, id="exponential"),
        pytest.param(Lognormal(mean_s=3.0, cv=0.7), 3.0, 0.7, id="lognormal"),
        # A Pareto's variance is mean^2 / (shape (shape - 2)): cv = 1 / sqrt(8) for shape 4.
        pytest.param(Pareto(shape=4.0, mean_s=1.0), 1.0, 1 / sqrt(8), id="pareto"),
    ],
)
def test_a_law_has_its_mean_and_its_spread(law: Law, mean: float, cv: float) -> None:
    drawn = law.draw(generator(1, "draw"), N)

    assert law.mean == mean
    assert drawn.mean() == pytest.approx(mean, rel=0.01)
    assert drawn.std() / drawn.mean() == pytest.approx(cv, abs=0.03)


def test_the_mean_of_a_clipped_pareto_is_the_integral_of_its_tail() -> None:
    law = Pareto(shape=2.2, mean_s=0.125, clip_s=15)
    # E[min(X, c)] = least + the integral of P(X > x) = (least / x)^2.2 from least to c.
    x = np.geomspace(law.least_s, 15, 200_001)
    integral = law.least_s + float(np.trapezoid((law.least_s / x) ** 2.2, x))

    assert law.least_s == pytest.approx(0.125 * 1.2 / 2.2)
    assert law.mean == pytest.approx(integral, rel=1e-6)
    assert law.mean == pytest.approx(0.124912, abs=1e-6)


def test_a_clipped_pareto_never_exceeds_its_clip_and_has_the_tail_of_its_shape() -> None:
    drawn = Pareto(shape=2.2, mean_s=0.125, clip_s=1.0).draw(generator(2, "draw"), N)
    least = 0.125 * 1.2 / 2.2

    assert drawn.min() >= least
    assert drawn.max() == 1.0
    assert (drawn > 0.5).mean() == pytest.approx((least / 0.5) ** 2.2, rel=0.03)


def test_tokens_become_seconds_by_the_stated_law() -> None:
    law = Tokens(prefill_tokens_per_s=8000, seconds_per_output_token=0.025)
    seconds = law.seconds(np.array([4808, 374], np.int32), np.array([10, 44], np.int32))

    assert seconds == pytest.approx([4808 / 8000 + 10 * 0.025, 374 / 8000 + 44 * 0.025])


def test_token_counts_are_whole_bounded_and_have_their_mean() -> None:
    drawn = TokenCount(mean=500, cv=0.5, most=4000).draw(generator(3, "tokens"), N)

    assert drawn.dtype == np.int32
    assert (drawn.min() >= 1, drawn.max() <= 4000) == (True, True)
    assert drawn.mean() == pytest.approx(500, rel=0.01)


@pytest.mark.parametrize(
    ("build", "rule"),
    [
        (ServiceTime, "exactly one"),
        (lambda: ServiceTime(fixed=Fixed(mean_s=1), from_trace=True), "exactly one"),
        (lambda: Pareto(shape=2, mean_s=1, clip_s=0.5), "not above the shortest time 0.5 s"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_rule(
    build: Callable[[], object], rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        build()
