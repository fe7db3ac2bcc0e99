"""Experts: each expects a count of requests for a minute that is still to come.

An expert learns from a series once in a while (`fit`) and is then asked every minute (`predict`).
The ones here need no learning. They are the baselines every other expert has to beat on the very
series in question, and they never act: a fleet that scales to the last value does so by its
triggers already.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol, Self

DAY = 24 * 60  # minutes


class Expert(Protocol):
    """Expects requests. `counts` are per minute, oldest first, without holes."""

    @property
    def name(self) -> str:
        """What it is called in reports and on pages."""
        ...

    def fit(self, counts: Sequence[float]) -> Self:
        """Give the expert as it is after learning from the series; the old one stays as it was."""
        ...

    def predict(self, counts: Sequence[float], ahead: int) -> float:
        """Give the count expected `ahead` minutes after the last one."""
        ...


def expected(expert: Expert, counts: Sequence[float], ahead: int) -> float:
    """Ask an expert; whatever it says becomes finite and >= 0, and nothing known means 0.

    An answer that is no number is replaced by the last count: silence is no forecast of silence.
    """
    if not counts:
        return 0.0
    answer = expert.predict(counts, ahead)
    if not isfinite(answer):
        answer = counts[-1]
    return max(0.0, answer) if isfinite(answer) else 0.0


@dataclass(frozen=True, slots=True)
class LastValue:
    """Expects the last count to come again."""

    name: str = "last-value"

    def fit(self, counts: Sequence[float]) -> Self:
        """Learn nothing."""
        del counts
        return self

    def predict(self, counts: Sequence[float], ahead: int) -> float:
        """Give the last count."""
        del ahead
        return counts[-1] if counts else 0.0


@dataclass(frozen=True, slots=True)
class MeanOfLast:
    """Expects the mean of the last few counts."""

    minutes: int = 5
    name: str = "mean-of-5"

    def fit(self, counts: Sequence[float]) -> Self:
        """Learn nothing."""
        del counts
        return self

    def predict(self, counts: Sequence[float], ahead: int) -> float:
        """Give the mean."""
        del ahead
        recent = counts[-self.minutes :]
        return sum(recent) / len(recent) if recent else 0.0


@dataclass(frozen=True, slots=True)
class SeasonalNaive:
    """Expects what came one period earlier; before there is a period, the last value."""

    period: int = DAY
    name: str = "seasonal-naive"

    def fit(self, counts: Sequence[float]) -> Self:
        """Learn nothing."""
        del counts
        return self

    def predict(self, counts: Sequence[float], ahead: int) -> float:
        """Give the count of the same minute one period (or several, if far ahead) before."""
        back = self.period - ahead % self.period
        if len(counts) >= back + 1:
            return counts[-1 - back]
        return counts[-1] if counts else 0.0


BASELINES: tuple[Expert, ...] = (LastValue(), MeanOfLast(), SeasonalNaive())
BASELINE_NAMES = frozenset(baseline.name for baseline in BASELINES)
