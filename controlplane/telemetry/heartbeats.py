"""Which loops are alive. A loop silent for three of its periods is a fault."""

import msgspec

SILENT_AFTER_PERIODS = 3
SILENT_AFTER_S = 10.0  # at least: in a fast world periods are shorter than a busy machine's hiccups


class Heartbeat(msgspec.Struct, kw_only=True):
    """A loop's last sign of life. Times are the event loop's, so a fast world is not 'silent'."""

    period_s: float
    last: float
    cycles: int = 0
    failures: int = 0
    failure: str = ""  # of the last cycle; empty when it went well

    def silent(self, now: float) -> bool:
        """Say whether it has been silent too long."""
        return now - self.last > max(SILENT_AFTER_PERIODS * self.period_s, SILENT_AFTER_S)


class Heartbeats:
    """The signs of life of all loops."""

    def __init__(self) -> None:
        """Start with no loop known."""
        self.beats: dict[str, Heartbeat] = {}

    def expect(self, loop: str, period_s: float, now: float) -> None:
        """Note that a loop was started: one that never finishes a cycle is silent too."""
        self.beats.setdefault(loop, Heartbeat(period_s=period_s, last=now))

    def beat(self, loop: str, period_s: float, now: float, failure: str = "") -> None:
        """Note a kept cycle, or a failed one with its cause."""
        beat = self.beats.setdefault(loop, Heartbeat(period_s=period_s, last=now))
        beat.last, beat.failure = now, failure
        beat.cycles += 1
        beat.failures += bool(failure)

    def silent(self, now: float) -> list[str]:
        """Name the loops that have been silent too long."""
        return [name for name, beat in self.beats.items() if beat.silent(now)]
