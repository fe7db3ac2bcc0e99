"""What an engine counts of itself, whatever names its face gives to it."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence


class Histogram:
    """Observations by bucket, as Prometheus keeps them."""

    def __init__(self, bounds: Sequence[float]) -> None:
        """Give it its upper bounds, ascending, without the infinite one."""
        self.bounds = tuple(bounds)
        self.sum = 0.0
        self._counts = [0] * (len(self.bounds) + 1)

    def observe(self, x: float) -> None:
        """Count one."""
        self._counts[bisect_left(self.bounds, x)] += 1
        self.sum += x

    @property
    def count(self) -> int:
        """Say how many were observed."""
        return sum(self._counts)

    def cumulative(self) -> list[tuple[float, int]]:
        """Give each bound with how many were at most that; the infinite one comes last."""
        total, pairs = 0, []
        for bound, count in zip((*self.bounds, float("inf")), self._counts, strict=True):
            total += count
            pairs.append((bound, total))
        return pairs


class Book:
    """Counters and histograms of one engine since its start."""

    def __init__(self, buckets: Mapping[str, Sequence[float]]) -> None:
        """Open it with the buckets of an engine's histograms, by what they measure."""
        self.received = 0
        self.ended: Counter[str] = Counter({"stop": 0, "length": 0, "abort": 0})
        self.failed = 0
        self.refused = 0
        self.prompt_tokens = 0
        self.generation_tokens = 0
        self.inference_s = 0.0
        self.histograms = {name: Histogram(bounds) for name, bounds in buckets.items()}

    @property
    def succeeded(self) -> int:
        """Say how many generations came to their end."""
        return self.ended["stop"] + self.ended["length"]

    def observe(self, name: str, seconds: float) -> None:
        """Count one observation, where this engine keeps such a histogram."""
        histogram = self.histograms.get(name)
        if histogram is not None:
            histogram.observe(seconds)
