"""A forecast of requests, and how far it has earned trust."""

import msgspec

from controlplane.domain.quantities import Instant


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """Requests per second expected `horizon_s` ahead. Always finite and never negative."""

    at: Instant
    horizon_s: float
    expert: str
    rate: float
    low: float | None = None  # the band's ends, where one is known
    high: float | None = None
    error: float | None = None  # mean absolute error over the backtest, requests per second
    trusted: bool = False  # may act; the baselines never do
