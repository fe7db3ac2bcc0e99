"""How wrong an expert has been lately: its mean error, and the band around its next answer.

The band's ends are quantiles of the errors of the last day, so it is as wide as this expert on this
series deserves. An error is known only when the minute it was about is over.
"""

from bisect import bisect_left, insort
from collections import deque
from math import ceil, fsum

WINDOW = 24 * 60  # errors, one a minute
ENOUGH = 60  # errors before a band is drawn


class Residuals:
    """The errors (came - expected) within the window, in order of time and of size."""

    __slots__ = ("_by_size", "_by_time", "_since_summed", "_sum_abs", "_window")

    def __init__(self, window: int = WINDOW) -> None:
        """Remember so many errors."""
        self._window = window
        self._by_time: deque[float] = deque()
        self._by_size: list[float] = []
        self._sum_abs = 0.0
        self._since_summed = 0

    def add(self, error: float) -> None:
        """Take in an error; the oldest goes when the window is full."""
        self._by_time.append(error)
        insort(self._by_size, error)
        self._sum_abs += abs(error)
        if len(self._by_time) > self._window:
            gone = self._by_time.popleft()
            del self._by_size[bisect_left(self._by_size, gone)]
            self._sum_abs -= abs(gone)
        self._since_summed += 1
        if self._since_summed > self._window:  # rounding must not pile up over weeks
            self._sum_abs, self._since_summed = fsum(map(abs, self._by_time)), 0

    def __len__(self) -> int:
        return len(self._by_time)

    @property
    def mean_abs(self) -> float | None:
        """Mean absolute error; None before the first."""
        return max(0.0, self._sum_abs) / len(self._by_time) if self._by_time else None

    def quantile(self, share: float) -> float | None:
        """Give the error that `share` of the errors do not exceed; None before there are enough."""
        if len(self._by_size) < ENOUGH:
            return None
        rank = max(1, ceil(share * len(self._by_size) - 1e-9))
        return self._by_size[rank - 1]
