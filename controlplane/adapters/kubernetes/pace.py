"""A token bucket on the event loop's time: the daemon asks the API server no faster than this.

A burst passes at once (twenty promotions are about sixty requests), a runaway does not.
"""

import asyncio


class Pace:
    """So many a second, and so many at once."""

    def __init__(self, per_s: float = 50.0, burst: int = 100) -> None:
        """Start with a full bucket."""
        self._per_s = per_s
        self._burst = float(burst)
        self._left = float(burst)
        self._read_at: float | None = None

    async def __call__(self) -> None:
        """Return when one more may go."""
        now = asyncio.get_running_loop().time()
        if self._read_at is not None:
            self._left = min(self._burst, self._left + (now - self._read_at) * self._per_s)
        self._read_at = now
        # What is taken beyond the bucket is owed: those who come together wait one after another.
        self._left -= 1.0
        if self._left < 0.0:
            await asyncio.sleep(-self._left / self._per_s)
