from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Self

import pytest

from controlplane.forecasting.backtest import Trial, backtest
from controlplane.forecasting.experts import BASELINES, LastValue, MeanOfLast, SeasonalNaive
from controlplane.forecasting.residuals import Residuals

DAY = 24 * 60


@dataclass(frozen=True)
class Diary:
    """An expert that notes the lengths it was shown."""

    fitted_on: list[int] = field(default_factory=list)
    asked_on: list[int] = field(default_factory=list)
    name: str = "diary"

    def fit(self, counts: Sequence[float]) -> Self:
        self.fitted_on.append(len(counts))
        return self

    def predict(self, counts: Sequence[float], ahead: int) -> float:
        del ahead
        self.asked_on.append(len(counts))
        return counts[-1]


def test_the_error_of_the_last_value_on_a_ramp_is_the_climb() -> None:
    ramp = [2.0 * minute for minute in range(300)]
    score = backtest(LastValue(), ramp, Trial(ahead=5))

    assert (score.mae, score.minutes) == (10.0, 295)
    # after an hour the band knows the climb: its upper end is what comes
    assert (score.pinball, score.coverage) == (0.0, 1.0)


def test_no_expert_sees_a_minute_that_is_not_over() -> None:
    diary = Diary()
    backtest(diary, [1.0] * 100, Trial(ahead=5, begin=50, refit_every=20))

    assert diary.fitted_on == [50, 71, 91]
    assert diary.asked_on == list(range(1, 101))


def test_the_band_covers_what_it_promises_on_noise() -> None:
    rng = Random(7)
    noise = [max(0.0, rng.gauss(100, 20)) for _ in range(4 * DAY)]
    score = backtest(MeanOfLast(), noise, Trial(begin=DAY))

    assert score.coverage == pytest.approx(0.9, abs=0.02)
    # E|N(0, s)| = 0.798 s, s^2 = 20^2 (1 + 1/5)
    assert score.mae == pytest.approx(0.798 * 20 * 1.2**0.5, rel=0.03)


def test_a_daily_pattern_is_what_seasonal_naive_lives_on() -> None:
    days = [100.0 if minute % DAY < 720 else 10.0 for minute in range(3 * DAY)]
    scores = {e.name: backtest(e, days, Trial(begin=DAY)).mae for e in BASELINES}

    assert scores["seasonal-naive"] == 0.0
    assert scores["last-value"] > 0.0


def test_holes_are_asked_about_and_never_scored() -> None:
    series: list[float | None] = [None] * 3 + [10.0] * 50
    series[30] = None
    series.append(40.0)
    score = backtest(LastValue(), series, Trial(ahead=5))

    assert score.minutes == 51 - 5 - 1
    assert score.mae == pytest.approx(30.0 / 45)


@pytest.mark.parametrize("series", [[], [3.0], [None, None]])
def test_a_series_too_short_scores_nothing(series: list[float | None]) -> None:
    score = backtest(SeasonalNaive(), series, Trial())

    assert (score.minutes, score.pinball, score.coverage) == (0, None, None)


def test_residuals_forget_what_left_the_window() -> None:
    residuals = Residuals(window=100)
    for error in [1e9] * 100 + [1.0, -3.0] * 150:
        residuals.add(error)

    assert len(residuals) == 100
    assert residuals.mean_abs == pytest.approx(2.0)
    assert residuals.quantile(0.5) == -3.0
    assert residuals.quantile(0.51) == 1.0
    assert Residuals().mean_abs is None
    assert Residuals().quantile(0.9) is None
