"""A request in the gateway's hands, from its arrival to the end of its answer."""

import asyncio
from enum import Enum

from controlplane.decide.admission.capacity import SERVING, Pool
from controlplane.decide.admission.verdicts import Ticket
from controlplane.gateway.asking import Asked
from controlplane.gateway.refusals import Refusal


class Stage(Enum):
    """Where it stands."""

    WAITING = 1
    RUNNING = 2
    REFUSED = 3
    OVER = 4


class Entry:
    """One request; the desk moves it on, the transport asks where it stands."""

    __slots__ = (
        "arrived",
        "asked",
        "deadline",
        "evict",
        "moved",
        "pool",
        "probe",
        "refusal",
        "stage",
        "started",
        "ticket",
    )

    def __init__(self, asked: Asked, arrived: float) -> None:
        """Begin."""
        self.asked = asked
        self.arrived = arrived
        self.started = arrived
        self.stage = Stage.WAITING
        self.refusal: Refusal | None = None
        self.ticket: Ticket[Entry] | None = None  # its place in the queue
        self.pool: Pool = SERVING  # whose slots it holds, where it never had a place
        self.moved: asyncio.Future[None] | None = None  # done when it no longer waits
        self.deadline: asyncio.TimerHandle | None = None
        self.probe = False
        self.evict: asyncio.Future[Refusal] | None = None  # done when it must give its slot back

    def move(self, stage: Stage) -> None:
        """Let it go on, and tell whoever waits for that."""
        self.stage = stage
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None
        if self.moved is not None and not self.moved.done():
            self.moved.set_result(None)
