"""What became of every request. All times are seconds since the start of the run."""

from enum import StrEnum

import msgspec

from controlplane.emulation.load.wishes import Wish


class Ending(StrEnum):
    """How a request ended."""

    SERVED = "served"
    REFUSED = "refused"  # told so, with a reason
    BROKEN = "broken"  # an error nobody meant: a reset, a 5xx without a reason, half an answer
    UNFINISHED = "unfinished"  # the run was over first


class Outcome(msgspec.Struct, gc=False):
    """One request, from the moment it was due."""

    wish: Wish
    sent: float  # when it left; later than it was due where this machine was too slow
    end: float
    ending: Ending
    reason: str = ""  # of the refused and the broken
    first_byte: float | None = None  # of a streamed answer

    @property
    def latency(self) -> float:
        """Count from when it was due, not from when it left: nothing is omitted (open loop)."""
        return self.end - self.wish.at

    @property
    def lag(self) -> float:
        """How late it left."""
        return self.sent - self.wish.at

    def wait(self, token_s: float) -> float:
        """Give all the time that was not spent on generating the answer it asked for."""
        return max(0.0, self.latency - self.wish.tokens * token_s)


class Book:
    """All outcomes at one target, and who is under way."""

    def __init__(self) -> None:
        """Begin empty."""
        self.outcomes: list[Outcome] = []
        self.sent = 0

    @property
    def under_way(self) -> int:
        """How many have been sent and have not ended."""
        return self.sent - len(self.outcomes)
