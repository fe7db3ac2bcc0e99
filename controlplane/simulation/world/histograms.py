"""Durations in logarithmic buckets, 1 % wide: percentiles of millions in a few kilobytes."""

from math import exp, log

import numpy as np
from numpy.typing import NDArray

WIDTH = 0.01  # relative width of a bucket
SMALLEST_S = 1e-5  # what is shorter counts as nothing
BUCKETS = 2500  # up to SMALLEST_S x e^(2500 log 1.01) = 7 days
_STEP = log(1.0 + WIDTH)


class Histogram:
    """Counts of durations; count, sum and maximum are exact, quantiles are within half a bucket."""

    __slots__ = ("buckets", "count", "max", "total")

    def __init__(self) -> None:
        """Start empty."""
        self.buckets: NDArray[np.int64] = np.zeros(BUCKETS, dtype=np.int64)
        self.count = 0
        self.total = 0.0
        self.max = 0.0

    def add(self, seconds: NDArray[np.float64], sign: int = 1) -> None:
        """Count durations; with `sign` -1 take back what was counted before (not the maximum)."""
        if not seconds.size:
            return
        self.count += sign * seconds.size
        self.total += sign * float(seconds.sum())
        if sign > 0:
            self.max = max(self.max, float(seconds.max()))
        place = np.log(np.maximum(seconds, SMALLEST_S) / SMALLEST_S) / _STEP
        index = np.minimum(np.ceil(place), BUCKETS - 1).astype(np.intp)
        self.buckets += sign * np.bincount(index, minlength=BUCKETS)

    def add_zeros(self, count: int) -> None:
        """Count so many durations of exactly nothing."""
        self.count += count
        self.buckets[0] += count

    def quantile(self, q: float) -> float | None:
        """Give the duration that a share `q` does not exceed; None when nothing was counted."""
        if not self.count:
            return None
        rank = max(1, int(np.ceil(q * self.count)))
        index = int(np.searchsorted(np.cumsum(self.buckets), rank))
        if index == 0:
            return 0.0
        # The middle of the bucket, but never more than the largest that was seen.
        return min(SMALLEST_S * exp((index - 0.5) * _STEP), self.max)

    @property
    def mean(self) -> float | None:
        """The exact mean."""
        return self.total / self.count if self.count else None

    def merge(self, other: "Histogram") -> None:
        """Add another histogram's counts to this one."""
        self.buckets += other.buckets
        self.count += other.count
        self.total += other.total
        self.max = max(self.max, other.max)
