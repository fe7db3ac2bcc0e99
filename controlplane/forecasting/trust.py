"""Whether a forecast may act: only while it beats the plain ones on this very series.

Trust is earned over the last day and lost the same way. The two judges are last-value and
seasonal-naive; mean-of-5 is shown beside them. Baselines themselves never act.
"""

from collections.abc import Mapping

from controlplane.domain.reasons import Evidence, Reason, ReasonCode
from controlplane.forecasting.experts import BASELINE_NAMES, LastValue, SeasonalNaive
from controlplane.forecasting.residuals import Residuals

JUDGES = (LastValue().name, SeasonalNaive().name)
ENOUGH_HISTORY = 24 * 60  # minutes; below it, nothing is known about a day
ENOUGH_ERRORS = 6 * 60


def judged(expert: str, errors: Mapping[str, Residuals], history: int) -> Reason:
    """Say whether an expert may act, and why, by everybody's errors on the series so far.

    The evidence is its mean error against that of the better judge, in requests per minute.
    """
    own = _mean_error(errors, expert)
    against = [_mean_error(errors, judge) for judge in JUDGES]
    known = [error for error in against if error is not None]
    best = min(known, default=None)
    earned = (
        expert not in BASELINE_NAMES
        and history >= ENOUGH_HISTORY
        and len(errors.get(expert, ())) >= ENOUGH_ERRORS
        and len(known) == len(JUDGES)
        and own is not None
        and best is not None
        and own < best
    )
    code = ReasonCode.FORECAST_TRUSTED if earned else ReasonCode.FORECAST_ABSTAINS
    evidence = (
        Evidence("error", own, best, "/min"),
        Evidence("history", history, ENOUGH_HISTORY, "min"),
    )
    return Reason(code, 0, 0, evidence)


def trusted(expert: str, errors: Mapping[str, Residuals], history: int) -> bool:
    """Say whether an expert may act."""
    return judged(expert, errors, history).code is ReasonCode.FORECAST_TRUSTED


def _mean_error(errors: Mapping[str, Residuals], expert: str) -> float | None:
    known = errors.get(expert)
    return known.mean_abs if known is not None else None
