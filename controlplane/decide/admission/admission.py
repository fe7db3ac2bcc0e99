"""Who gets the next free slot of a model, who waits, who is refused: one mutable state machine.

Deterministic: time comes in with each call, requests are opaque handles of the caller. The gateway
and the simulated front door use this very class. It is mutable, alone in `decide`, because it is
asked for every request: what happens when nobody waits is a handful of attribute operations.

The caller keeps three promises: every admitted request ends in exactly one `release`, or its ticket
in one `leave`; every ticket a call hands out is started; and `poll` is called at `next_due`, for
some turns come by time alone. A request of several slots gathers them: nobody passes it.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Generic

from controlplane.decide.admission.capacity import LENT, SERVING, Pool
from controlplane.decide.admission.limits import Limits
from controlplane.decide.admission.standing import NEVER, Standing
from controlplane.decide.admission.verdicts import (
    ADMITTED,
    ADMITTED_LENT,
    NO_ENDPOINTS,
    PROMPT_TOO_LONG,
    TOO_HEAVY,
    Request,
    Ticket,
    Verdict,
)
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import ReasonCode

LOW = Priority.LOW.rank
MINIMUM_SERVICE = ReasonCode.MINIMUM_SERVICE
QUEUE_FULL, QUEUE_BYTES_FULL = ReasonCode.QUEUE_FULL, ReasonCode.QUEUE_BYTES_FULL


class Admission(Standing[Request], Generic[Request]):
    """The slots and queues of one model."""

    __slots__ = (
        "_bounds",
        "_heaviest",
        "_keep",
        "_largest",
        "_lines",
        "_per_slot_s",
        "_prompt_limit",
        "_ready",
        "_reserve",
        "_service_s",
        "_shares",
        "held",
    )

    def __init__(self, policy: AdmissionPolicy) -> None:
        """Start with no slots: requests queue until `capacity` brings some."""
        super().__init__(policy)
        self._lines = self._queues.lines
        self._bounds = self.limits.bounds
        self._service_s = self._per_slot_s = 1.0
        self._shares = [0.0 for _ in PRIORITIES]
        self._heaviest = inf  # slots of one replica
        self._ready = self._largest = 0
        self._reserve = 0
        self._prompt_limit = self.limits.prompt
        self.held = False
        self._look_ahead()

    def offer(
        self,
        now: Instant,
        request: Request,
        rank: int,
        weight: int = 1,
        size: int = 0,
        prompt_tokens: int = 0,
    ) -> Verdict | Ticket[Request]:
        """Admit a request, refuse it, or give it a ticket that a later call hands out."""
        if (
            self.free > self._keep[rank]
            and weight == 1
            and (not prompt_tokens or prompt_tokens <= self._prompt_limit)
        ):
            self.free -= 1
            self.in_flight[rank] += 1
            return ADMITTED
        if prompt_tokens and prompt_tokens > self._prompt_limit:
            return PROMPT_TOO_LONG
        if weight > self._heaviest:
            return TOO_HEAVY
        if self._lines[rank]:  # whoever comes behind others is not the next in turn
            return self._full(rank, size) or self._join(Ticket(request, now, rank, weight, size))
        return self._queue_up(now, Ticket(request, now, rank, weight, size))

    def release(
        self, now: Instant, rank: int, weight: int = 1, pool: Pool = SERVING
    ) -> Sequence[Ticket[Request]]:
        """Take back the slots of a request that ended; give those who got them."""
        if pool is SERVING:
            self.free += weight
            self.in_flight[rank] -= weight
        else:
            self.count(rank, -weight, pool)
        return self.poll(now) if self._queues.waiting else ()

    def leave(self, now: Instant, ticket: Ticket[Request]) -> Sequence[Ticket[Request]]:
        """Take a client's ticket back, whether it waits, runs or is done; safe to repeat."""
        pool, ticket.pool = ticket.pool, None
        if pool is not None:
            return self.release(now, ticket.rank, ticket.weight, pool)
        if not ticket.waits:
            return ()
        self._queues.drop(ticket)
        self._look_ahead()
        return self.poll(now)

    def expire(self, now: Instant) -> Sequence[Ticket[Request]]:
        """Let those go who have waited too long; `refusal` says what to answer them."""
        limits, gone = self.limits, []
        if limits.expiring:
            for line, limit in zip(self._lines, limits.max_wait_s, strict=True):
                while line and line[0].arrived + limit <= now:
                    ticket = line[0]
                    self._queues.take_head(ticket)
                    ticket.code = ReasonCode.WAITED_TOO_LONG
                    gone.append(ticket)
            self._look_ahead()
        return gone

    def refusal(self, ticket: Ticket[Request]) -> Verdict:
        """Give the answer to a ticket that `expire` gave back."""
        return self._refused(ticket.rank, ticket.code)

    def poll(self, now: Instant) -> Sequence[Ticket[Request]]:
        """Hand out what is free to those whose turn it is."""
        started: list[Ticket[Request]] = []
        if self.held:
            return started
        if self.lent_free > 0:
            self._lend(started)
        queues = self._queues
        while self.free > 0 and queues.waiting:
            ticket = queues.turn(now, self.free - self._reserve, self.in_flight, self._shares)
            if ticket is None or ticket.weight > self.free:
                break
            self._start(now, ticket)
            started.append(ticket)
        return started

    def capacity(
        self,
        now: Instant,
        *,
        ready: int,
        slots: int,
        lent: int = 0,
        largest: int = 0,
        service_s: float = 0.0,
    ) -> Sequence[Ticket[Request]]:
        """Set K: `slots` on `ready` replicas in service, `lent` more for low; 0 keeps service_s.

        `largest` is how many slots one replica has; without it, K over `ready`. Where K is only a
        part of what several doors share, replicas are larger than that, and there even at K = 0.
        """
        self.resize(slots, lent)
        self._ready, self._largest = ready, largest
        self._reserve = self.limits.reserve * ready
        self._shares = [share * slots for share in self.limits.guarantee]
        self._heaviest = largest or (slots / ready if ready else inf)
        self._service_s = service_s or self._service_s
        self._per_slot_s = self._service_s / max(slots, 1)
        self._look_ahead()
        return self.poll(now)

    def revise(self, now: Instant, policy: AdmissionPolicy) -> Sequence[Ticket[Request]]:
        """Go on under another policy. One queue does not become several, nor the reverse."""
        limits = Limits.of(replace(policy, single_queue=self.limits.single))
        self.limits = self._queues.limits = limits
        self._prompt_limit, self.patience = limits.prompt, limits.patience
        self._bounds = limits.bounds
        return self.capacity(
            now, ready=self._ready, slots=self.slots, lent=self.lent, largest=self._largest
        )

    def hold(self, now: Instant, *, on: bool) -> Sequence[Ticket[Request]]:
        """Release nothing while an engine reports its own queue or a full KV cache.

        Where the caller knows which engine it is, it leaves that engine's slots out of `capacity`.
        """
        self.held = on
        self._look_ahead()
        return self.poll(now)

    def _look_ahead(self) -> None:
        """Say how many slots must stay free for `offer` to admit a class without looking further.

        Nobody of the class waits, no rule but low's reserve could hold it back, and whoever else
        waits while slots are free is low, kept off them by that reserve.
        """
        if self.held or self.limits.capped or self._queues.heavy:
            self._empty = (NEVER, NEVER, NEVER)
        else:
            self._empty = (0, 0, NEVER if self.lent > 0 else self._reserve)
        pairs = zip(self._lines, self._empty, strict=True)
        self._keep = [NEVER if line else slots for line, slots in pairs]

    def _queue_up(self, now: Instant, ticket: Ticket[Request]) -> Verdict | Ticket[Request]:
        """Start it if it is its turn, else let it wait if there is room, else refuse it."""
        if not self.held and (self.free > 0 or self.lent_free > 0):
            verdict = self._at_once(now, ticket)
            if verdict is not None:
                return verdict
        return self._full(ticket.rank, ticket.size) or self._join(ticket)

    def _full(self, rank: int, size: int) -> Verdict | None:
        """Refuse where the class's queue has no room."""
        queues = self._queues
        if queues.queued[rank] >= self._bounds[rank]:
            return self._refused(rank, QUEUE_FULL)
        if size and queues.bytes[rank] + size > self.limits.bytes_bound:
            return self._refused(rank, QUEUE_BYTES_FULL)
        return None

    def _join(self, ticket: Ticket[Request]) -> Ticket[Request]:
        """Join the end of the class's queue."""
        self._queues.add(ticket)
        self._keep[ticket.rank] = NEVER
        if ticket.weight > 1 or (self.limits.single and self._queues.waiting == 1):
            self._look_ahead()
        return ticket

    def _at_once(self, now: Instant, ticket: Ticket[Request]) -> Verdict | None:
        """Start the request if it would be the next in turn."""
        queues = self._queues
        if ticket.rank == LOW and self.lent_free >= ticket.weight:
            self.count(LOW, ticket.weight, LENT)
            return ADMITTED_LENT
        queues.add(ticket)
        turn = queues.turn(now, self.free - self._reserve, self.in_flight, self._shares)
        if turn is ticket and ticket.weight <= self.free:
            self._start(now, ticket)
            return ADMITTED
        queues.drop(ticket)
        return None

    def _start(self, now: Instant, ticket: Ticket[Request]) -> None:
        """Give the head of a queue slots in service."""
        queues, rank = self._queues, ticket.rank
        queues.take_head(ticket)
        ticket.code = queues.why
        ticket.pool = SERVING
        if queues.why is MINIMUM_SERVICE:
            queues.served_minimum(now)
        self.free -= ticket.weight
        self.in_flight[rank] += ticket.weight
        if ticket.weight > 1 or (self.limits.single and not queues.waiting):
            self._look_ahead()
        elif not self._lines[rank]:
            self._keep[rank] = self._empty[rank]

    def _lend(self, started: list[Ticket[Request]]) -> None:
        """Fill lent slots with low, first come, first served."""
        line = self._lines[LOW]
        while line and line[0].rank == LOW and line[0].weight <= self.lent_free:
            ticket = line[0]
            self._queues.take_head(ticket)
            ticket.code, ticket.pool = ReasonCode.ADMITTED, LENT
            self.count(LOW, ticket.weight, LENT)
            started.append(ticket)
        self._look_ahead()

    def _refused(self, rank: int, code: ReasonCode) -> Verdict:
        """Refuse: contended, with a guess when those before it are through, or no capacity."""
        if not self.slots and not self.lent and not self._largest:
            return NO_ENDPOINTS
        queues = self._queues
        ahead = queues.waiting if rank == LOW else sum(queues.queued[: rank + 1])
        # Worth asking again when those before it are through.
        return Verdict(code, 429, int((ahead + 1) * self._per_slot_s) + 1)
