"""What admission says: a verdict at once, or a ticket for a place in the queue."""

from typing import Generic, TypeVar

import msgspec

from controlplane.decide.admission.capacity import LENT, SERVING, Pool
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import ReasonCode

OK = 200
Request = TypeVar("Request")


class Verdict(msgspec.Struct, frozen=True):
    """An answer that needs no waiting: go on to an engine, or go away and why."""

    code: ReasonCode
    status: int = OK  # the HTTP status of a refusal
    retry_after_s: int | None = None
    pool: Pool = SERVING

    @property
    def admitted(self) -> bool:
        """Say whether the request holds a slot now."""
        return self.code is ReasonCode.ADMITTED


ADMITTED = Verdict(ReasonCode.ADMITTED)
ADMITTED_LENT = Verdict(ReasonCode.ADMITTED, pool=LENT)
NO_ENDPOINTS = Verdict(ReasonCode.NO_ENDPOINTS, 503, 15)  # a warm replica serves within this
PROMPT_TOO_LONG = Verdict(ReasonCode.PROMPT_TOO_LONG, 400)
TOO_HEAVY = Verdict(ReasonCode.TOO_HEAVY, 400)
QUEUED = ReasonCode.QUEUED


class Ticket(Generic[Request]):
    """A place in the queue, later the slots it led to. `request` is the caller's, never read."""

    __slots__ = ("arrived", "code", "pool", "rank", "request", "size", "waits", "weight")

    def __init__(
        self, request: Request, arrived: Instant, rank: int, weight: int, size: int
    ) -> None:
        """Queue up."""
        self.request = request
        self.arrived = arrived
        self.rank = rank  # its own class, also after ageing
        self.weight = weight
        self.size = size  # bytes
        self.code = QUEUED  # then why it was served, or why it was refused
        self.waits = True
        self.pool: Pool | None = None  # whose slots it holds, if it holds any
