"""What an expert would have said all along, held against what came: rolling, never peeking.

At every minute the expert sees the counts up to it and nothing else; an error joins the window only
once the minute it is about is over. Refitting happens on what was known then.
"""

from collections.abc import Sequence

import msgspec

from controlplane.forecasting.experts import Expert, expected
from controlplane.forecasting.minutes import filled
from controlplane.forecasting.residuals import WINDOW, Residuals


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """How a backtest is run."""

    ahead: int = 5  # minutes
    begin: int = 0  # minute of the series from which on errors count
    refit_every: int | None = None  # minutes; None: fitted once, on what lies before `begin`
    upper: float = 0.9  # the quantile the band's upper end stands for
    window: int = WINDOW


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """What a backtest found."""

    expert: str
    minutes: int  # errors counted
    mae: float  # mean absolute error, requests per minute
    pinball: float | None  # mean pinball loss of the upper end, where there was one
    coverage: float | None  # share of the minutes that came in at or below the upper end


def backtest(expert: Expert, counts: Sequence[float | None], trial: Trial) -> Score:
    """Run an expert over a series. A minute that is a hole is asked about and never scored."""
    skipped = next((i for i, count in enumerate(counts) if count is not None), len(counts))
    known, series = counts[skipped:], filled(counts)
    begin = max(0, trial.begin - skipped)
    fitted = expert.fit(series[:begin])
    residuals = Residuals(trial.window)
    so_far: list[float] = []
    said: list[float] = []
    errors: list[float] = []
    losses: list[float] = []
    covered = 0
    for now, count in enumerate(series):
        so_far.append(count)
        asked = now - trial.ahead  # whose target is this very minute
        came = known[now]
        if asked >= 0 and came is not None:
            residuals.add(came - said[asked])
        if trial.refit_every and now > begin and (now - begin) % trial.refit_every == 0:
            fitted = expert.fit(so_far)
        answer = expected(fitted, so_far, trial.ahead)
        said.append(answer)
        target = now + trial.ahead
        if now < begin or target >= len(series) or known[target] is None:
            continue
        errors.append(abs(series[target] - answer))
        margin = residuals.quantile(trial.upper)
        if margin is not None:
            over = series[target] - max(0.0, answer + margin)
            losses.append(max(trial.upper * over, (trial.upper - 1.0) * over))
            covered += over <= 0
    return Score(
        expert=expert.name,
        minutes=len(errors),
        mae=sum(errors) / len(errors) if errors else 0.0,
        pinball=sum(losses) / len(losses) if losses else None,
        coverage=covered / len(losses) if losses else None,
    )
