"""Whether a forecast may act: only while it beats the plain ones on this very series.

Trust is earned over the last day and lost the same way. The two judges are last-value and
seasonal-naive; mean-of-5 is shown beside them. Baselines themselves never act.
"""

from collections.abc import Mapping

from controlplane.forecasting.experts import BASELINE_NAMES, LastValue, SeasonalNaive
from controlplane.forecasting.residuals import Residuals

JUDGES = (LastValue().name, SeasonalNaive().name)
ENOUGH_HISTORY = 24 * 60  # minutes; below it, nothing is known about a day
ENOUGH_ERRORS = 6 * 60


def trusted(expert: str, errors: Mapping[str, Residuals], history: int) -> bool:
    """Say whether an expert may act, by everybody's errors on the series so far."""
    if expert in BASELINE_NAMES or history < ENOUGH_HISTORY:
        return False
    own = errors.get(expert)
    if own is None or len(own) < ENOUGH_ERRORS or own.mean_abs is None:
        return False
    judged = [errors[judge].mean_abs for judge in JUDGES if judge in errors]
    return len(judged) == len(JUDGES) and all(
        error is not None and own.mean_abs < error for error in judged
    )
