"""The waiting requests of a model, and whose turn it is.

A class's queue is first come, first served, so only its head can be next, and a head that has
waited long enough competes one class higher (ageing) without being moved: it keeps its arrival
time, and goes on counting against its own class's bound.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from math import inf
from typing import Generic

from controlplane.decide.admission.limits import Limits
from controlplane.decide.admission.verdicts import Request, Ticket
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import ReasonCode

LOWEST = len(PRIORITIES) - 1
ADMITTED, AGED = ReasonCode.ADMITTED, ReasonCode.AGED  # an enum's look-up is slow, a name's is not


class Queues(Generic[Request]):
    """One queue per class, or one for all."""

    __slots__ = ("_minimum_from", "bytes", "heavy", "limits", "lines", "queued", "waiting", "why")

    def __init__(self, limits: Limits) -> None:
        """Start empty."""
        self.limits = limits
        line: deque[Ticket[Request]] = deque()
        self.lines: tuple[deque[Ticket[Request]], ...] = tuple(
            line if limits.single else deque() for _ in PRIORITIES
        )
        self.waiting = 0
        self.heavy = 0  # waiting requests of more than one slot
        self.queued = [0 for _ in PRIORITIES]
        self.bytes = [0 for _ in PRIORITIES]
        self.why = ADMITTED  # the rule that chose the last `turn`
        self._minimum_from = -inf  # the next minimum service is due then at the earliest

    def add(self, ticket: Ticket[Request]) -> None:
        """Join the end of the class's queue."""
        rank = ticket.rank
        self.lines[rank].append(ticket)
        ticket.waits = True
        self.waiting += 1
        self.queued[rank] += 1
        if ticket.size:
            self.bytes[rank] += ticket.size
        if ticket.weight > 1:
            self.heavy += 1

    def take_head(self, ticket: Ticket[Request]) -> None:
        """Let the head of its queue go."""
        self.lines[ticket.rank].popleft()
        self._forget(ticket)

    def drop(self, ticket: Ticket[Request]) -> None:
        """Let any waiting request go, wherever it stands."""
        self.lines[ticket.rank].remove(ticket)
        self._forget(ticket)

    def _forget(self, ticket: Ticket[Request]) -> None:
        ticket.waits = False
        rank = ticket.rank
        self.waiting -= 1
        self.queued[rank] -= 1
        if ticket.size:
            self.bytes[rank] -= ticket.size
        if ticket.weight > 1:
            self.heavy -= 1

    def served_minimum(self, now: Instant) -> None:
        """Note that minimum service was given."""
        self._minimum_from = now + self.limits.minimum_s

    def heads(self) -> Iterator[Ticket[Request]]:
        """Give the first of each queue, highest class first."""
        lines = self.lines[:1] if self.limits.single else self.lines
        return (line[0] for line in lines if line)

    def longest(self) -> Iterator[Ticket[Request]]:
        """Give the longest waiting of each class, also where all stand in one line."""
        if not self.limits.single:
            yield from self.heads()
            return
        left = {rank for rank, count in enumerate(self.queued) if count}
        for ticket in self.lines[0]:
            if ticket.rank in left:
                left.discard(ticket.rank)
                yield ticket
            if not left:
                return

    def turn(
        self, now: Instant, spare: int, busy: Sequence[int], shares: Sequence[float]
    ) -> Ticket[Request] | None:
        """Say whose turn it is, fit or not; None when all who wait must go on waiting.

        `spare` is how many slots are free beyond low's reserve, `busy` the slots each class holds,
        `shares` the slots it is guaranteed.
        """
        limits = self.limits
        if now >= self._minimum_from:
            oldest = self._due_minimum(now, busy)
            if oldest is not None:
                return oldest
        if limits.guaranteed:
            for ticket in self.heads():
                if busy[ticket.rank] + ticket.weight <= shares[ticket.rank]:
                    self.why = ReasonCode.GUARANTEED
                    return ticket
        self.why = ADMITTED
        return self._capped(now, spare, busy) if limits.capped else self._highest(now, spare)

    def _due_minimum(self, now: Instant, busy: Sequence[int]) -> Ticket[Request] | None:
        """The longest waiting, if minimum service is due to it; caps still bound the sum."""
        limits = self.limits
        oldest = min(self.heads(), key=_arrived, default=None)
        if oldest is None:
            return None
        due = oldest.arrived + limits.minimum_s
        if due > now:
            self._minimum_from = due  # who comes later is due later: no need to look before
            return None
        if sum(busy) + oldest.weight > sum(limits.caps):
            return None
        self.why = ReasonCode.MINIMUM_SERVICE
        return oldest

    def _highest(self, now: Instant, spare: int) -> Ticket[Request] | None:
        """The highest class waiting; within a class, aged ones included, the earliest arrival."""
        high, medium, low = self.lines
        ageing = self.limits.ageing_s
        top = high[0] if high else None
        if medium:
            head = medium[0]
            if head.arrived + ageing <= now and (top is None or head.arrived < top.arrived):
                self.why = AGED
                return head
            top = top or head
        if low and not high:
            head = low[0]
            if head.arrived + ageing <= now:
                if top is None or head.arrived < top.arrived:
                    self.why = AGED
                    return head
            elif top is None and spare >= head.weight:
                return head
        return top

    def _capped(self, now: Instant, spare: int, busy: Sequence[int]) -> Ticket[Request] | None:
        """The same where each class has a hard cap; who has aged may use the cap it rose to."""
        ageing, caps = self.limits.ageing_s, self.limits.caps
        best, chosen = LOWEST + 1, None
        for line in self.lines:
            if not line:
                continue
            ticket = line[0]
            rank, weight = ticket.rank, ticket.weight
            aged = rank > 0 and ticket.arrived + ageing <= now
            level = rank - aged
            if busy[rank] + weight > caps[rank] and busy[level] + weight > caps[level]:
                continue
            if level == LOWEST and spare < weight:
                continue
            if level < best or (chosen and level == best and ticket.arrived < chosen.arrived):
                best, chosen = level, ticket
                self.why = AGED if aged else ADMITTED
        return chosen

    def next_due(self, now: Instant) -> Instant:
        """Give the next instant after `now` at which time alone changes whose turn it is."""
        limits = self.limits
        due = inf
        for ticket in self.heads():
            moments = (
                ticket.arrived + limits.max_wait_s[ticket.rank],
                ticket.arrived + limits.ageing_s if ticket.rank else inf,
                max(ticket.arrived + limits.minimum_s, self._minimum_from),
            )
            due = min([due, *(moment for moment in moments if moment > now)])
        return due


def _arrived(ticket: Ticket[Request]) -> Instant:
    return ticket.arrived
