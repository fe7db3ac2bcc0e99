"""Requests counted per minute, as every expert sees them. A minute nobody watched is unknown.

Rates arrive whenever a cycle looks; each speaks for the time since the look before it, however long
that was, up to `SILENCE_S`. Minutes watched for less than half are holes, never zeros.
"""

from collections.abc import Sequence
from math import isfinite

import msgspec

from controlplane.domain.quantities import Instant

MINUTE_S = 60.0
SILENCE_S = 30.0  # a rate seen after a longer silence speaks for so long only
WATCHED_SHARE = 0.5
KEPT_MINUTES = 3 * 24 * 60


class Minutes(msgspec.Struct, kw_only=True):
    """The counts of the minutes that are over, oldest first, and the one that is running."""

    first: int | None = None  # minutes since 1970 of the oldest count
    counts: list[float | None] = []
    seen_at: Instant | None = None
    requests: float = 0.0  # in the running minute
    watched_s: float = 0.0

    def see(self, at: Instant, rate: float | None) -> int:
        """Take in the rate (requests per second) of the time since the last look; None: unknown.

        Gives how many minutes ended.
        """
        last, self.seen_at = self.seen_at, at
        if last is None or self.first is None:
            self.first = int(at // MINUTE_S)
            return 0
        if at <= last:
            self.seen_at = last
            return 0
        known = rate is not None and isfinite(rate) and rate >= 0
        speaks_from = max(last, at - SILENCE_S) if known else at
        ended, begun = 0, last
        while begun < at:
            minute_ends = (begun // MINUTE_S + 1) * MINUTE_S
            until = min(at, minute_ends)
            watched = max(0.0, until - max(begun, speaks_from))
            self.requests += watched * (rate if known and rate is not None else 0.0)
            self.watched_s += watched
            if until == minute_ends:
                self._end_minute()
                ended += 1
            begun = until
        return ended

    def _end_minute(self) -> None:
        known = self.watched_s >= WATCHED_SHARE * MINUTE_S
        self.counts.append(self.requests * MINUTE_S / self.watched_s if known else None)
        self.requests = self.watched_s = 0.0
        if len(self.counts) > KEPT_MINUTES:
            dropped = len(self.counts) - KEPT_MINUTES
            del self.counts[:dropped]
            self.first = (self.first or 0) + dropped


def filled(counts: Sequence[float | None]) -> list[float]:
    """Carry the last known count over holes; what comes before the first known one is left out."""
    known: list[float] = []
    for count in counts:
        if count is not None:
            known.append(count)
        elif known:
            known.append(known[-1])
    return known
