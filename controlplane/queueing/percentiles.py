"""Quantiles of what was measured, from a histogram whose buckets grow by a constant factor.

A bucket's bounds differ by 2 %, so every quantile is within 1 % of the value it stands for,
whatever the distribution and however heavy its tail; an average of percentiles has no such bound.
Histograms of replicas and minutes are added up; that is what makes a P99 over both honest.
Adding costs one logarithm, and memory is that of the buckets in use (a few hundred).
"""

from collections.abc import Iterable, Mapping
from math import ceil, exp, log, log1p

_ACCURACY = 0.01
_PER_BUCKET = log1p(2 * _ACCURACY / (1 - _ACCURACY))  # log of the ratio of a bucket's bounds
_BUCKETS_PER_LOG = 1.0 / _PER_BUCKET
_TO_MIDDLE = 2.0 / (1.0 + exp(_PER_BUCKET))  # upper bound -> the value with least relative error
SMALLEST = 1e-6  # seconds; anything smaller counts as zero


class LogHistogram:
    """Counts of values by size. Values are never negative; `SMALLEST` and below count as zero."""

    __slots__ = ("by_bucket", "count", "highest", "zeros")

    def __init__(self, values: Iterable[float] = ()) -> None:
        """Count the values given, if any."""
        self.by_bucket: dict[int, int] = {}  # times, by the number of the bucket
        self.zeros = 0
        self.count = 0
        self.highest = 0.0
        for value in values:
            self.add(value)

    def add(self, value: float, times: int = 1) -> None:
        """Count a value."""
        self.count += times
        if value <= SMALLEST:
            self.zeros += times
            return
        self.highest = max(self.highest, value)
        bucket = ceil(log(value) * _BUCKETS_PER_LOG)
        self.by_bucket[bucket] = self.by_bucket.get(bucket, 0) + times

    def merge(self, other: "LogHistogram") -> None:
        """Count everything the other one has counted."""
        self.count += other.count
        self.zeros += other.zeros
        self.highest = max(self.highest, other.highest)
        for bucket, times in other.by_bucket.items():
            self.by_bucket[bucket] = self.by_bucket.get(bucket, 0) + times

    def quantile(self, share: float) -> float | None:
        """Give the value that `share` of the counted do not exceed; None when nothing was counted.

        It is the value of rank ceil(share x count), within 1 %.
        """
        if not self.count:
            return None
        rank = max(1, ceil(share * self.count - 1e-9))
        if rank <= self.zeros:
            return 0.0
        seen = self.zeros
        for bucket in sorted(self.by_bucket):
            seen += self.by_bucket[bucket]
            if seen >= rank:
                return min(exp(bucket * _PER_BUCKET) * _TO_MIDDLE, self.highest)
        return self.highest

    def above(self, limit: float) -> int:
        """Count the values beyond a limit, to within the width of the limit's bucket."""
        if limit <= SMALLEST:
            return self.count - self.zeros
        last_within = ceil(log(limit) * _BUCKETS_PER_LOG)
        return sum(times for bucket, times in self.by_bucket.items() if bucket > last_within)

    @property
    def buckets(self) -> Mapping[float, int]:
        """Give the counts by their bucket's upper bound, smallest first; zeros under 0."""
        zeros = {0.0: self.zeros} if self.zeros else {}
        return zeros | {exp(b * _PER_BUCKET): self.by_bucket[b] for b in sorted(self.by_bucket)}


def quantile(values: Iterable[float], share: float) -> float | None:
    """Give the exact quantile of a few values: the one of rank ceil(share x count)."""
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[max(1, ceil(share * len(ordered) - 1e-9)) - 1]
