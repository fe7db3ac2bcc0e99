"""What the end of a request says about the engine that had it.

Busy is not broken: an engine whose own queue is full answers 429, or 503 with Retry-After, and is
doing what it should. The client's own mistakes and departures say that the engine is alive, or
nothing at all.
"""

from enum import StrEnum

import msgspec

SERVER_ERRORS = range(500, 600)
NOT_IMPLEMENTED = 501  # the request asks for what this engine never had: no fault of its health
TOO_MANY, UNAVAILABLE = 429, 503


class Meaning(StrEnum):
    """What an end counts as."""

    WELL = "well"  # the engine answers
    BROKEN = "broken"
    NEITHER = "neither"  # busy, or the client left: says nothing about its health


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """How a request that had reached an engine ended."""

    status: int = 0  # what the engine said; 0 where it said nothing
    busy: bool = False  # it says so itself (Retry-After), or its own queue is known to be full
    reset: bool = False  # the connection was refused, reset or cut
    timed_out: bool = False  # nothing came in time
    client_left: bool = False


def meaning(answer: Answer) -> Meaning:
    """Say what an end counts as."""
    if answer.client_left:
        return Meaning.NEITHER
    if answer.reset or answer.timed_out:
        return Meaning.BROKEN
    if answer.status == TOO_MANY or (answer.status == UNAVAILABLE and answer.busy):
        return Meaning.NEITHER
    if answer.status in SERVER_ERRORS and answer.status != NOT_IMPLEMENTED:
        return Meaning.BROKEN
    return Meaning.WELL if answer.status else Meaning.NEITHER
