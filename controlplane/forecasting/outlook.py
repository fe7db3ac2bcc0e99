"""One series as it goes on: what each expert expects next, and how far each has been right.

This is the rolling backtest, run live: every answer is kept until its minute is over, then counted
as an error of the expert that gave it.
"""

from collections import deque
from collections.abc import Mapping, Sequence

from controlplane.domain.forecasts import Forecast
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import Reason
from controlplane.forecasting.experts import BASELINES, Expert, expected
from controlplane.forecasting.minutes import KEPT_MINUTES, MINUTE_S, Minutes, filled
from controlplane.forecasting.residuals import Residuals
from controlplane.forecasting.trust import judged, trusted

BAND = (0.05, 0.95)


class Outlook:
    """The forecasts of one model. Fed with every cycle's rate; thinks once a minute."""

    def __init__(
        self,
        experts: Sequence[Expert] = BASELINES,
        ahead: int = 5,
        minutes: Minutes | None = None,
    ) -> None:
        """Start with what was recorded before, if anything."""
        self.minutes = minutes if minutes is not None else Minutes()
        self.errors: dict[str, Residuals] = {expert.name: Residuals() for expert in experts}
        self._experts = tuple(experts)
        self._ahead = ahead
        self._said: deque[tuple[float, ...]] = deque(maxlen=ahead)  # by minute, oldest first
        self._now: tuple[Forecast, ...] = ()
        self._series = filled(self.minutes.counts)

    def see(self, at: Instant, rate: float | None) -> tuple[Forecast, ...]:
        """Take in the arrivals per second since the last look; give what is expected now."""
        ended = self.minutes.see(at, rate)
        for came in self.minutes.counts[-ended:] if ended else ():
            self._end_minute(came)
        if ended:
            self._now = self._forecasts(at)
        return self._now

    def reasons(self) -> Mapping[str, Reason]:
        """Say of each expert why it may act, or why it abstains."""
        history = len(self._series)
        return {e.name: judged(e.name, self.errors, history) for e in self._experts}

    def _end_minute(self, came: float | None) -> None:
        """Score what was said about this minute, then ask everybody about the one ahead."""
        if came is not None and len(self._said) == self._ahead:
            for expert, answer in zip(self._experts, self._said[0], strict=True):
                self.errors[expert.name].add(came - answer)
        if came is not None or self._series:
            self._series.append(came if came is not None else self._series[-1])
        del self._series[:-KEPT_MINUTES]
        self._said.append(tuple(expected(e, self._series, self._ahead) for e in self._experts))

    def _forecasts(self, at: Instant) -> tuple[Forecast, ...]:
        if not self._series:
            return ()
        history = len(self._series)
        return tuple(
            self._forecast(at, expert.name, answer, history)
            for expert, answer in zip(self._experts, self._said[-1], strict=True)
        )

    def _forecast(self, at: Instant, expert: str, answer: float, history: int) -> Forecast:
        errors = self.errors[expert]
        low, high = (_rate(answer, errors.quantile(share)) for share in BAND)
        mean_abs = errors.mean_abs
        return Forecast(
            at=at,
            horizon_s=self._ahead * MINUTE_S,
            expert=expert,
            rate=answer / MINUTE_S,
            low=low,
            high=high,
            error=mean_abs / MINUTE_S if mean_abs is not None else None,
            trusted=trusted(expert, self.errors, history),
        )


def _rate(answer: float, margin: float | None) -> float | None:
    return max(0.0, answer + margin) / MINUTE_S if margin is not None else None
