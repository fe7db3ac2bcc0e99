from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.forecasting.experts import (
    BASELINES,
    Expert,
    LastValue,
    MeanOfLast,
    SeasonalNaive,
    expected,
)
from controlplane.forecasting.minutes import filled


@dataclass(frozen=True)
class Says:
    """An expert that always says the same."""

    answer: float
    name: str = "says"

    def fit(self, counts: Sequence[float]) -> Self:
        del counts
        return self

    def predict(self, counts: Sequence[float], ahead: int) -> float:
        del counts, ahead
        return self.answer


FALLING = [100.0, 80.0, 60.0, 40.0, 20.0, 10.0, 0.0, 0.0]


@pytest.mark.parametrize("expert", BASELINES, ids=lambda e: e.name)
@pytest.mark.parametrize(
    "history", [FALLING, [5.0] * 40, [], [7.0]], ids=["falling", "constant", "empty", "one point"]
)
def test_f1_a_forecast_is_finite_and_never_negative(expert: Expert, history: list[float]) -> None:
    """F1."""
    answer = expected(expert.fit(history), history, 5)

    assert isfinite(answer)
    assert answer >= 0.0


@given(
    st.lists(st.floats(0, 1e12), max_size=50),
    st.sampled_from([nan, inf, -inf, -5.0, 1e308]),
    st.integers(1, 60),
)
def test_f1_whatever_an_expert_says_is_made_finite(
    history: list[float], answer: float, ahead: int
) -> None:
    """F1, for experts yet to come."""

    said = expected(Says(answer), history, ahead)

    assert isfinite(said)
    assert said >= 0.0


def test_an_answer_that_is_no_number_becomes_the_last_count() -> None:
    assert expected(Says(nan), [3.0, 4.0], 5) == 4.0


def test_the_baselines_expect_what_they_say() -> None:
    assert LastValue().predict(FALLING, 5) == 0.0
    assert MeanOfLast().predict(FALLING, 5) == pytest.approx((40 + 20 + 10) / 5)
    assert MeanOfLast().predict([6.0, 8.0], 5) == 7.0


def test_seasonal_naive_expects_the_same_minute_of_the_day_before() -> None:
    two_days = [float(minute) for minute in range(2 * 1440)]

    assert SeasonalNaive().predict(two_days, 5) == 2 * 1440 - 1 + 5 - 1440
    assert SeasonalNaive().predict(two_days, 1440) == 2 * 1440 - 1 - 1440
    assert SeasonalNaive(period=10).predict(two_days[:12], 3) == 4.0


def test_before_a_day_is_over_seasonal_naive_expects_the_last_value() -> None:
    assert SeasonalNaive().predict([*FALLING, 9.0], 5) == 9.0


def test_holes_carry_the_last_known_count_and_never_zero() -> None:
    assert filled([None, None, 4.0, None, 6.0, None]) == [4.0, 4.0, 6.0, 6.0]
    assert filled([None]) == []
