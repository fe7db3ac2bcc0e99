"""What a worker counts, per model and class: plain numbers, cheap enough for every request.

A worker's numbers only ever grow until it ends; whoever adds several workers up keeps what ended
ones had counted. Buckets begin at 1 ms: what admission adds must show, and an engine's own
histogram begins where it has long ceased to matter.
"""

from bisect import bisect_left
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from controlplane.domain.reasons import ReasonCode

BUCKETS = (
    0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3,
    0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0,
)  # fmt: skip


GROWING = (
    "arrived", "admitted", "ended", "left", "aged", "minimum", "evicted", "malformed", "held_s",
)  # fmt: skip


class Spread(msgspec.Struct):
    """A histogram."""

    counts: list[int] = msgspec.field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0

    def add(self, x: float) -> None:
        """Count one."""
        self.counts[bisect_left(BUCKETS, x)] += 1
        self.total += x

    def merge(self, other: "Spread") -> None:
        """Add another's."""
        self.counts = [a + b for a, b in zip(self.counts, other.counts, strict=True)]
        self.total += other.total

    def since(self, before: "Spread") -> "Spread":
        """Give what came after an earlier state of this one."""
        counts = [a - b for a, b in zip(self.counts, before.counts, strict=True)]
        return Spread(counts, self.total - before.total)

    @property
    def n(self) -> int:
        """How many there are."""
        return sum(self.counts)


def quantile(counts: Iterable[int], q: float) -> float | None:
    """Give the upper edge of the bucket the q-quantile falls into; None where nothing was."""
    listed = list(counts)
    wanted = q * sum(listed)
    if not wanted:
        return None
    seen = 0
    for count, edge in zip(listed, (*BUCKETS, BUCKETS[-1]), strict=True):
        seen += count
        if seen >= wanted:
            return edge
    return BUCKETS[-1]


class ClassTally(msgspec.Struct):
    """What was counted for one class of one model."""

    arrived: int = 0
    admitted: int = 0
    ended: int = 0  # of the admitted
    left: int = 0  # clients that went away while they waited
    aged: int = 0
    minimum: int = 0  # admitted by minimum service
    evicted: int = 0
    malformed: int = 0  # priorities that were nonsense
    held_s: float = 0.0  # time ended requests held their slots
    refused: dict[str, int] = {}  # by reason
    wait: Spread = msgspec.field(default_factory=Spread)
    latency: Spread = msgspec.field(default_factory=Spread)
    # how it is now
    queued: int = 0
    running: int = 0
    oldest_s: float = 0.0  # how long the longest waiting has waited
    slots: int = 0  # held, also by requests nobody has a stream of
    tenants: dict[str, int] = {}  # who waits, those with most requests

    def over(self) -> None:
        """Nothing waits or runs any more; what was counted stays."""
        self.queued = self.running = self.slots = 0
        self.oldest_s = 0.0
        self.tenants = {}

    def refuse(self, code: ReasonCode) -> None:
        """Count a refusal."""
        self.refused[code.value] = self.refused.get(code.value, 0) + 1

    def since(self, before: "ClassTally") -> "ClassTally":
        """Give what came after an earlier state of this one; how it is now stays as it is."""
        grown = {name: getattr(self, name) - getattr(before, name) for name in GROWING}
        codes = self.refused
        refused = {code: n - before.refused.get(code, 0) for code, n in codes.items()}
        wait, latency = self.wait.since(before.wait), self.latency.since(before.latency)
        return replace(self, **grown, refused=refused, wait=wait, latency=latency)

    def merge(self, other: "ClassTally") -> None:
        """Add another worker's."""
        for name in GROWING:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.queued += other.queued
        self.running += other.running
        self.oldest_s = max(self.oldest_s, other.oldest_s)
        self.slots += other.slots
        for tenant, count in other.tenants.items():
            self.tenants[tenant] = self.tenants.get(tenant, 0) + count
        for code, count in other.refused.items():
            self.refused[code] = self.refused.get(code, 0) + count
        self.wait.merge(other.wait)
        self.latency.merge(other.latency)
