"""What is to be sent, and when: one line of a schedule that is known before anything is sent."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Wish(NamedTuple):
    """One request."""

    at: float  # seconds after the start
    rank: int  # 0 high, 1 medium, 2 low
    tokens: int  # of the answer: how long it holds its slot
    streams: bool  # the answer is wanted token by token


def wishes(
    requests: Iterable[tuple[float, int, float]], token_s: float, streaming: Sequence[bool]
) -> list[Wish]:
    """Make the schedule of (seconds, rank, seconds on a slot); a slot is held in whole tokens."""
    return [
        Wish(at, rank, max(1, round(service_s / token_s)), streaming[rank])
        for at, rank, service_s in requests
    ]
