"""Slots shared with other gateways: asked for in batches, beside the requests and not for each.

A request never waits for this: it is admitted out of what was granted. What is asked for at once is
more slots where somebody waits for one, and what is told at once is that we now use fewer. When
nobody answers, every gateway goes on with an even share, and says so; when somebody answers again,
the next grants put it right.
"""

import asyncio
from collections.abc import Iterable

import structlog

from controlplane.clock import heard, stopwatch
from controlplane.domain.quantities import ModelName
from controlplane.gateway.desk import Desk
from controlplane.gateway.door import Door
from controlplane.ports import UnavailableError
from controlplane.ports.shares import Grant, Shares, Wish

EVERY_S = 0.05
ALL_EVERY = 5  # rounds; in the others only models where something happened
AGAIN_S = 0.5  # after nobody answered
LEAST_S = 0.002  # between two asks
CAREFUL_S = 2.0  # after somebody answers again: by then every gateway has said what it runs

log = structlog.stdlib.get_logger(__name__)


class Sharing:
    """Keeps a worker's grants fresh."""

    def __init__(self, door: Door, shares: Shares) -> None:
        """Ask for the slots of all desks."""
        self._door, self._shares = door, shares
        self.degraded = False
        self.asked = 0
        self.spent_s = 0.0
        self._careful_until = 0.0
        self._gateways: dict[str, int] = {}
        self._wanted = asyncio.Event()
        door.wants = self._wanted.set

    async def run(self) -> None:
        """Ask for ever."""
        rounds = 0
        while True:
            rounds += 1
            self._wanted.clear()
            await self._round(all_of_them=rounds % ALL_EVERY == 1)
            pause = AGAIN_S if self.degraded else EVERY_S
            await asyncio.sleep(LEAST_S)
            await heard(self._wanted, pause)

    async def leave(self) -> None:
        """Give back what is held."""
        await self._shares.leave()

    async def _round(self, *, all_of_them: bool) -> None:
        desks = {
            name: desk
            for name, desk in self._door.desks.items()
            if all_of_them or self.degraded or desk.moved
        }
        if not desks:
            return
        began = stopwatch()
        try:
            careful = self.degraded or began < self._careful_until
            wishes = {ModelName(n): wish(d, careful=careful) for n, d in desks.items()}
            grants = await self._shares.ask(wishes)
        except UnavailableError as cause:
            self._alone(self._door.desks.values(), str(cause))
            return
        self.asked += 1
        self.spent_s += stopwatch() - began
        if self.degraded:
            log.info("slots are shared again")
            self._careful_until = stopwatch() + CAREFUL_S
        self.degraded = False
        for name, grant in grants.items():
            self._take(desks[name], grant)

    def _take(self, desk: Desk, grant: Grant) -> None:
        desk.moved = False
        self._gateways[desk.model.name] = grant.gateways
        desk.share = 1 / grant.gateways
        before = desk.admission.slots
        if desk.granted != grant.slots:
            desk.granted = grant.slots
            desk.resize()
        if grant.slots < before:  # the others get the rest when we say that we have heard
            desk.moved = True
            self._wanted.set()

    def _alone(self, desks: Iterable[Desk], cause: str) -> None:
        """Go on with an even share of what there is."""
        if not self.degraded:
            log.warning("slots cannot be shared; each gateway takes an even part", cause=cause)
        self.degraded = True
        for desk in desks:
            known = self._gateways.get(desk.model.name)
            desk.share = 1 / known if known else self._door.share
            desk.granted = None
            desk.resize()


def wish(desk: Desk, *, careful: bool = False) -> Wish:
    """Say what a desk has and wants; carefully, no more than it has."""
    admission = desk.admission
    high, medium, low = admission.in_flight
    waiting = list(admission.queued)
    for head in admission.heads():
        waiting[head.rank] += head.weight - 1  # it needs all of them at once
    slots = sum(at.slots for at in desk.model.serving)
    low -= admission.lent - admission.lent_free  # those are nobody else's
    running = (high, medium, max(low, 0))
    most = admission.slots if careful else None
    return Wish(slots, admission.slots, running, (waiting[0], waiting[1], waiting[2]), most)
