"""The one place that reads time. `Clock(rate)` runs for loops and world; sockets keep real time.

At `rate` 60 a minute of the world passes in a second. HTTP, SQL and sockets stay on the event
loop's own time: at 60x a 5 s time-out would otherwise last 83 ms.
"""

import asyncio
import time
from datetime import UTC, datetime

from controlplane.domain.quantities import Instant

_SLEEPLESS: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # the former on Linux


class Clock:
    """The world's time: it starts at the real time and runs `rate` times as fast."""

    def __init__(self, rate: float = 1.0, start: Instant | None = None) -> None:
        """Start the clock; `rate` must be positive."""
        if rate <= 0:
            raise ValueError(f"speed: {rate} is not above 0")
        self.rate = rate
        self._epoch = wall() if start is None else start
        self._began: float | None = None

    def now(self) -> Instant:
        """Give the world's time in seconds since 1970-01-01 UTC."""
        # The running loop's time, so that a virtual-time loop moves this clock too.
        reading = asyncio.get_running_loop().time()
        if self._began is None:
            self._began = reading
        return self._epoch + (reading - self._began) * self.rate

    async def sleep(self, seconds: float) -> None:
        """Sleep for so many seconds of the world."""
        await asyncio.sleep(max(seconds, 0.0) / self.rate)


async def heard(news: asyncio.Event, within_s: float | None) -> bool:
    """Sleep so many real seconds (None: for ever), or until there is news; say whether there is."""
    try:
        async with asyncio.timeout(within_s):
            return await news.wait()
    except TimeoutError:
        return False


def wall() -> Instant:
    """Give the real time in seconds since 1970-01-01 UTC."""
    return time.time()


def stopwatch() -> float:
    """Give a monotonic reading for durations."""
    return time.perf_counter()


def since_boot() -> float:
    """Give a reading that nobody sets and nothing halts, not even a machine that was suspended."""
    return time.clock_gettime(_SLEEPLESS)


def utc_text(at: Instant) -> str:
    """Write an instant as Kubernetes' MicroTime wants it: UTC, and always six digits."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
