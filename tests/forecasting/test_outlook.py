from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan, pi, sin
from random import Random
from typing import Self

import msgspec
import pytest

from controlplane.domain.reasons import ReasonCode
from controlplane.forecasting.backtest import Trial, backtest
from controlplane.forecasting.experts import BASELINES, LastValue
from controlplane.forecasting.minutes import KEPT_MINUTES, Minutes
from controlplane.forecasting.outlook import Outlook
from controlplane.forecasting.residuals import Residuals
from controlplane.forecasting.trust import ENOUGH_HISTORY, JUDGES, trusted

START = 1_764_410_400.0
DAY = 24 * 60


@dataclass(frozen=True)
class Oracle:
    """Knows the pattern; what a good expert would be."""

    name: str = "oracle"

    def fit(self, counts: Sequence[float]) -> Self:
        del counts
        return self

    def predict(self, counts: Sequence[float], ahead: int) -> float:
        return pattern(len(counts) - 1 + ahead)


def pattern(minute: int) -> float:
    return 600.0 + 300.0 * sin(2 * pi * minute / 97)  # no period of a day


def watched(outlook: Outlook, minutes: int, seed: int = 1) -> None:
    rng = Random(seed)
    outlook.see(START, 0.0)
    for minute in range(minutes):
        rate = max(0.0, pattern(minute) + rng.gauss(0, 20)) / 60
        outlook.see(START + 60 * (minute + 1), rate)


def fed(gap_s: float, rate: float, seconds: float) -> Minutes:
    minutes, at = Minutes(), START
    minutes.see(at, None)
    while at < START + seconds:
        at = min(START + seconds, at + gap_s)
        minutes.see(at, rate)
    return minutes


@pytest.mark.parametrize("gap_s", [1.0, 5.0, 7.3, 15.0, 30.0])
def test_a_minute_s_count_does_not_depend_on_the_pace_of_the_looks(gap_s: float) -> None:
    assert fed(gap_s, 2.5, 300.0).counts == pytest.approx([150.0] * 5)


def test_a_minute_nobody_watched_is_a_hole_and_no_zero() -> None:
    minutes = fed(5.0, 2.0, 60.0)
    minutes.see(START + 400.0, 2.0)

    assert minutes.counts == [120.0, None, None, None, None, None]


@pytest.mark.parametrize("rate", [None, nan, inf, -1.0])
def test_a_rate_that_is_no_number_is_not_counted(rate: float | None) -> None:
    minutes = Minutes()
    for at in range(0, 61, 5):
        minutes.see(START + at, rate)

    assert minutes.counts == [None]


def test_a_clock_that_goes_back_counts_nothing_twice() -> None:
    minutes = fed(5.0, 2.0, 30.0)
    minutes.see(START + 10.0, 2.0)
    for at in range(35, 61, 5):
        minutes.see(START + at, 2.0)

    assert minutes.counts == pytest.approx([120.0])


def test_the_record_keeps_three_days() -> None:
    minutes = fed(30.0, 2.0, (KEPT_MINUTES + 2) * 60.0)

    assert len(minutes.counts) == KEPT_MINUTES
    assert minutes.first == START // 60 + 2


def test_the_record_survives_the_store() -> None:
    minutes = fed(5.0, 2.0, 150.0)
    restored = msgspec.json.decode(msgspec.json.encode(minutes), type=Minutes)

    assert restored == minutes
    assert Outlook(minutes=restored).see(START + 180.0, 2.0)[0].rate == pytest.approx(2.0)


def test_baselines_are_shown_with_their_error_and_never_trusted() -> None:
    outlook = Outlook()
    watched(outlook, 2 * DAY)
    shown = outlook.see(START + 2 * DAY * 60 + 1, 10.0)

    assert [forecast.expert for forecast in shown] == [baseline.name for baseline in BASELINES]
    assert not any(forecast.trusted for forecast in shown)
    for forecast in shown:
        assert forecast.error is not None
        assert forecast.low is not None
        assert forecast.high is not None
        assert 0.0 <= forecast.low <= forecast.rate <= forecast.high
        assert forecast.horizon_s == 300.0


def test_the_live_error_is_the_backtest_s() -> None:
    outlook = Outlook()
    watched(outlook, 1000)
    errors = outlook.errors["last-value"]
    score = backtest(LastValue(), outlook.minutes.counts, Trial(ahead=5))

    assert len(errors) == score.minutes
    assert errors.mean_abs == pytest.approx(score.mae)


def test_an_expert_earns_trust_after_a_day_of_beating_the_plain_ones() -> None:
    """What may act has beaten last-value and seasonal-naive on this very series."""
    outlook = Outlook((*BASELINES, Oracle()))
    watched(outlook, DAY - 1)
    early = outlook.see(START + DAY * 60 - 30, 10.0)[-1]
    outlook = Outlook((*BASELINES, Oracle()))
    watched(outlook, DAY + 10)
    late = outlook.see(START + (DAY + 10) * 60 + 1, 10.0)[-1]

    assert (early.expert, early.trusted) == ("oracle", False)
    assert (late.expert, late.trusted) == ("oracle", True)
    reasons = outlook.reasons()
    assert reasons["oracle"].code is ReasonCode.FORECAST_TRUSTED
    assert reasons["last-value"].code is ReasonCode.FORECAST_ABSTAINS
    error = reasons["oracle"].evidence[0]
    assert error.value == outlook.errors["oracle"].mean_abs
    assert error.limit == outlook.errors["last-value"].mean_abs


def errors_of(mean: float) -> Residuals:
    residuals = Residuals()
    for _ in range(600):
        residuals.add(mean)
    return residuals


def test_trust_is_lost_as_soon_as_a_plain_forecast_is_better() -> None:
    judges = {JUDGES[0]: errors_of(10.0), JUDGES[1]: errors_of(20.0)}

    assert trusted("ridge", {**judges, "ridge": errors_of(9.9)}, ENOUGH_HISTORY)
    assert not trusted("ridge", {**judges, "ridge": errors_of(10.1)}, ENOUGH_HISTORY)
    assert not trusted("ridge", {**judges, "ridge": errors_of(9.9)}, ENOUGH_HISTORY - 1)
    assert not trusted("ridge", {"ridge": errors_of(1.0)}, ENOUGH_HISTORY)
    assert not trusted("mean-of-5", {**judges, "mean-of-5": errors_of(1.0)}, ENOUGH_HISTORY)
    assert not trusted("ridge", {**judges, "ridge": Residuals()}, ENOUGH_HISTORY)
    assert not trusted("nobody", judges, ENOUGH_HISTORY)
