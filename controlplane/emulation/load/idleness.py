"""Who was turned away while slots stood idle, reckoned from the served requests alone.

A served request held its slot for the time its answer took, up to its last byte. So for every
refusal it is known how many slots were busy at that moment, whatever stood before the engines.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from controlplane.emulation.load.outcomes import Ending, Outcome


class Idleness(NamedTuple):
    """What refusals met."""

    refusals: int
    while_idle: int  # came while at least one slot was idle
    mean_idle: float  # slots idle when a request was refused


def idleness(outcomes: Sequence[Outcome], token_s: float, slots: int) -> Idleness | None:
    """Look at every refusal; None where nobody was refused."""
    held = _held(outcomes, token_s)
    starts, ends = sorted(start for start, _ in held), sorted(end for _, end in held)
    idle = [
        max(0, slots - bisect_right(starts, at) + bisect_right(ends, at))
        for at in (one.end for one in outcomes if one.ending is Ending.REFUSED)
    ]
    if not idle:
        return None
    return Idleness(len(idle), sum(n > 0 for n in idle), sum(idle) / len(idle))


def busy_ratio(
    outcomes: Sequence[Outcome], token_s: float, slots: int, seconds: float
) -> float | None:
    """Give the share of the slots' time that served requests held, while requests were sent."""
    if seconds <= 0:
        return None
    spent = sum(max(0.0, min(end, seconds) - start) for start, end in _held(outcomes, token_s))
    return min(1.0, spent / (slots * seconds))


def _held(outcomes: Sequence[Outcome], token_s: float) -> list[tuple[float, float]]:
    """Give when served requests held their slots."""
    return [
        (one.end - one.wish.tokens * token_s, one.end)
        for one in outcomes
        if one.ending is Ending.SERVED
    ]
