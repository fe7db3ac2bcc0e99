"""Knative's averages: one bucket a second, a mean over the window, partial until it is full."""

from collections import deque
from math import floor

from controlplane.domain.quantities import Instant


class ConcurrencyWindow:
    """The last so many one-second buckets of total concurrency."""

    def __init__(self, window_s: float) -> None:
        """Begin empty."""
        self._window_s = round(window_s)
        self._buckets: deque[tuple[int, float]] = deque()
        self._first = 0  # second of the first write since the window was last empty

    def record(self, now: Instant, concurrency: float) -> None:
        """Write what was seen in this second."""
        second = floor(now)
        if not self._buckets or second - self._buckets[-1][0] >= self._window_s:
            self._buckets.clear()
            self._first = second
        if self._buckets and self._buckets[-1][0] == second:
            concurrency += self._buckets.pop()[1]
        self._buckets.append((second, concurrency))
        while self._buckets[0][0] <= second - self._window_s:
            self._buckets.popleft()

    def average(self, now: Instant) -> float | None:
        """Give the mean over the window; gaps count 0; None before anything was written."""
        if not self._buckets:
            return None
        second, last = floor(now), self._buckets[-1][0]
        silent = max(second - last, 0)
        if silent >= self._window_s:
            return 0.0
        inside = sum(seen for at, seen in self._buckets if at > second - self._window_s)
        buckets = min(last - self._first + 1, self._window_s - silent)
        return floor(inside / buckets * 1e6) / 1e6
