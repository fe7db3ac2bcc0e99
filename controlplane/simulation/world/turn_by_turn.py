"""Requests that arrive one after the other at a front door: the hot loops.

There are three, each faster than the next. Nobody waits: whoever comes takes a slot, and admission
hears of it later. Somebody waits: admission is asked for everyone, but for those of a class whose
queue is known to be full. And the long way, where engines are not all alike or prompts matter.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from controlplane.decide.admission.admission import Admission
from controlplane.decide.admission.capacity import SERVING
from controlplane.decide.admission.verdicts import ADMITTED, Ticket
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.reasons import ReasonCode
from controlplane.simulation.world.source import Page

if TYPE_CHECKING:
    from controlplane.simulation.world.station import Station

Coming: TypeAlias = tuple[int, float, int, float]  # index in the page, arrived, rank, service_s

# An enum's look-up is slow, a name's is not.
FULL, IN_TURN = ReasonCode.QUEUE_FULL, ReasonCode.ADMITTED
NONE = [False for _ in PRIORITIES]


def one_by_one(station: "Station", stop: int, halt_from: float) -> bool:
    """Let requests arrive up to an index of the page; True when one was worth stopping at."""
    coming = _rows(station.source.page, station.source.index, stop)
    while (request := _while_nobody_waits(station, coming)) is not None:
        if _Crowd(station, halt_from).pass_by(request, coming):
            return True
    station.source.index = stop
    return False


def the_long_way(station: "Station", stop: int, halt_from: float) -> bool:
    """Do the same where engines are slower than the traffic says, or prompts matter."""
    source, slots = station.source, station.slots
    running, free, homes = slots.running, slots.free, slots.homes
    release = station.admission.release
    for number, at, rank, service_s in _rows(source.page, source.index, stop):
        while running[0][0] <= at:
            end, slot, done, _, _ = heappop(running)
            if homes[slot] is free:
                free.append(slot)
                station.start(release(end, done), end)
            else:
                station.end_aside(end, slot, done)
        verdict = station.offer(at, service_s, rank)
        source.index = number + 1
        if station.settle(verdict, number, rank, at, service_s) >= halt_from:
            station.now = at
            return True
    source.index = stop
    return False


def _rows(page: Page, first: int, stop: int) -> Iterator[Coming]:
    columns = (column[first:stop].tolist() for column in (page.at, page.rank, page.service_s))
    return zip(range(first, stop), *columns, strict=True)


def _while_nobody_waits(station: "Station", coming: Iterator[Coming]) -> Coming | None:
    """Give the first request that admission must be asked about, after the ends before it."""
    admission, slots = station.admission, station.slots
    at_once = admission.at_once
    if at_once is None:
        return next(coming, None)
    running, free, homes = slots.running, slots.free, slots.homes
    take, put = free.popleft, free.append
    held = [0 for _ in PRIORITIES]
    asked = None
    for request in coming:
        _, at, rank, service_s = request
        while running[0][0] <= at:
            end, slot, done, _, _ = heappop(running)
            if homes[slot] is free:
                put(slot)
                held[done] -= 1
            else:
                station.end_aside(end, slot, done)
        if len(free) <= at_once[rank]:
            asked = request
            break
        heappush(running, (at + service_s, take(), rank, at, at))
        held[rank] += 1
    admission.passed(held)
    return asked


class _Crowd:
    """Requests that come while somebody waits."""

    __slots__ = ("_admission", "_apart", "_full", "_halt_from", "_halted", "_patience", "_station")

    def __init__(self, station: "Station", halt_from: float) -> None:
        self._station = station
        # Whoever does not go the long way is to admission a number of seconds.
        self._admission: Admission[Any] = station.admission
        self._patience = station.admission.patience
        self._apart = station.book.apart.append
        self._full = NONE.copy()  # by rank: the queue is, for sure
        self._halt_from = halt_from
        self._halted = False

    def pass_by(self, first: Coming, coming: Iterator[Coming]) -> bool:
        """Go on until nobody waits; True when a request was worth stopping at."""
        running, full, apart = self._station.slots.running, self._full, self._apart
        turned_away = [0 for _ in PRIORITIES]
        halt_from = self._halt_from
        for request in chain((first,), coming):
            number, at, rank, _ = request
            if running[0][0] <= at:
                self._end_until(at)
            if full[rank] and at < halt_from:
                turned_away[rank] += 1
                apart(number)
            elif self._over_after(request):
                break
        for rank, more in enumerate(turned_away):
            self._station.book.turn_more_away(rank, FULL, more)
        return self._halted

    def _end_until(self, now: float) -> None:
        """Let requests end, and those begin who get their slots."""
        station, full = self._station, self._full
        running, free, homes = station.slots.running, station.slots.free, station.slots.homes
        starts, release = station.book.starts, self._admission.release
        while running[0][0] <= now:
            end, slot, done, _, _ = heappop(running)
            if homes[slot] is not free:
                station.end_aside(end, slot, done)
                full[:] = NONE
                continue
            free.append(slot)
            for ticket in release(end, done):
                rank = ticket.rank
                full[rank] = False
                if ticket.code is IN_TURN and ticket.pool is SERVING:
                    last = end + ticket.request
                    heappush(running, (last, free.popleft(), rank, ticket.arrived, end))
                    starts[rank].extend((ticket.arrived, end, last))
                else:
                    station.start((ticket,), end)

    def _over_after(self, request: Coming) -> bool:
        """Offer a request; True when nobody waits any more, or when it is worth stopping at."""
        station, admission = self._station, self._admission
        number, at, rank, service_s = request
        verdict = admission.offer(at, service_s, rank)
        if verdict is ADMITTED:
            slot = station.slots.free.popleft()
            heappush(station.slots.running, (at + service_s, slot, rank, at, at))
            return not admission.waiting
        if verdict.__class__ is Ticket:
            self._apart(number)
            if at + self._patience < station.timer:
                station.arm(at + self._patience)
            return False
        if station.settle(verdict, number, rank, at, service_s) >= self._halt_from:
            station.source.index = number + 1
            station.now = at
            self._halted = True
        # Whoever comes behind others is turned away like them until one of them goes.
        self._full[rank] = verdict.code is FULL and admission.queued[rank] > 0
        return self._halted
