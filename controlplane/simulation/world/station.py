"""The front door of one model: requests arrive, get a slot or wait, and end.

A million requests pass here in a second. So while nobody would wait they pass as arrays, else in
loops that only leave to here what is out of the ordinary. Time is seconds since the world's start.
"""

from collections.abc import Sequence
from heapq import heappop, heappush
from math import fsum, inf
from typing import NamedTuple, TypeAlias

from controlplane.decide.admission.admission import Admission
from controlplane.decide.admission.capacity import LENT
from controlplane.decide.admission.verdicts import OK, Ticket, Verdict
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.reasons import ReasonCode
from controlplane.simulation.traffic import Traffic
from controlplane.simulation.world.book import WINDOW_S, Book
from controlplane.simulation.world.engines import Engine
from controlplane.simulation.world.slots import PART, TIMER, Slots
from controlplane.simulation.world.source import Source
from controlplane.simulation.world.stretches import Stretch
from controlplane.simulation.world.turn_by_turn import one_by_one, the_long_way

A_FEW = 64  # requests that are passed faster one by one than all at once

ISOLATED = Verdict(ReasonCode.BREAKER_OPEN, 503)  # no want of capacity: nobody is to wake for it
IN_TURN = ReasonCode.ADMITTED  # a name is looked up faster than an enum's member


class Prompted(NamedTuple):
    """A request where prompts matter."""

    service_s: float
    weight: int
    prompt: int
    tokens: int


# What admission holds for us: elsewhere the seconds a request needs are all there is to it.
Handle: TypeAlias = float | Prompted
Answer: TypeAlias = Verdict | Ticket[Handle]


class Station:
    """Admission, slots and requests of one model."""

    def __init__(
        self, policy: AdmissionPolicy, wait_limits: tuple[float, ...], traffic: Traffic | None
    ) -> None:
        """Open with no slots."""
        self.admission: Admission[Handle] = Admission(policy)
        self.slots = Slots(self.admission)
        self.book = Book(wait_limits)
        self.source = Source(traffic)
        self.book.open(self.source.page)
        self.now = 0.0
        self.refused_at = inf  # the first turn-away since the world last looked
        self.kv_room = inf  # tokens one engine can hold
        self.tokens_on: dict[int, int] = {}  # by slot, of the request that started there last
        self.died: list[Engine] = []  # killed by a request since the world last looked
        self.shut = False  # a person isolated the model
        self.timer = inf  # when the queue must be looked at, at the latest
        self._offered: Handle = 0.0  # where prompts matter: the request just offered

    def run(self, to: float, halt_from: float = inf) -> float:
        """Let everything happen up to `to`; stop at the first turn-away from `halt_from` on."""
        source, book = self.source, self.book
        while True:
            if self._arrive(source.until(to), halt_from):
                return self.now
            if not source.used_up:
                break
            book.reduce(source.index)
            if not source.turn():
                break
            book.forget_before(float(source.page.at[0]) - WINDOW_S)
            book.open(source.page)
        self.now = self._complete(to)
        return self.now

    @property
    def busy(self) -> int:
        """How many slots are busy, lent ones included."""
        return sum(self.admission.in_flight)

    @property
    def busy_slot_s(self) -> float:
        """Slot time used up to now: what is still running counts as far as it has come."""
        # Exactly added, for the heap's order depends on how requests were passed.
        ahead = fsum(run[0] - self.now for run in self.slots.running if run[1] != TIMER)
        return self.book.busy_s - ahead

    def safe_until(self) -> float:
        """Give a time before which nobody can be turned away: a queue must fill first."""
        return min(self.source.arrival(self.admission.room), self.admission.next_due(self.now))

    def revise(self, policy: AdmissionPolicy, wait_limits: tuple[float, ...]) -> None:
        """Go on under another policy; who waits keeps waiting, who runs keeps running."""
        self.book.wait_limits = wait_limits
        self.start(self.admission.revise(self.now, policy), self.now)

    def place(self, engine: Engine, *, serving: bool = False, lent: int = 0) -> None:
        """Put an engine into service, lend part of it, or take it out."""
        self.start(self.slots.place(self.now, engine, serving=serving, lent=lent), self.now)

    def remove(self, engine: Engine) -> None:
        """Take an engine away with all that runs on it."""
        self.place(engine)
        self.cut(engine)
        self.slots.remove(engine)

    def cut(self, engine: Engine) -> None:
        """End all that runs on an engine that is out of service: it failed."""
        runs = self.slots.cut(engine)
        cut = [(rank, (since, start, end)) for end, _, rank, since, start in runs if since != PART]
        self.book.cut_off(cut, self.now, self.source.index)

    def look_for_breach(self, now: float) -> None:
        """See to it that a wait that has broken its limit by now is known."""
        self.book.reduce(self.source.index)
        for ticket in self.admission.heads():
            self.book.waits_since(ticket.arrived, ticket.rank, now)

    # ------------------------------------------------------------------ arrivals and ends
    def _arrive(self, stop: int, halt_from: float) -> bool:
        """Let requests arrive up to an index of the page; True when one was worth stopping at."""
        if self.shut or self.slots.odd or self._prompts_matter():
            return the_long_way(self, stop, halt_from)
        source = self.source
        while source.index < stop:
            until = min(stop, self._sweep(stop) + A_FEW)
            if one_by_one(self, until, halt_from):
                return True
        return False

    def _sweep(self, stop: int) -> int:
        """Pass those who come while nobody would wait, all at once; give who may be the first."""
        source, admission, slots = self.source, self.admission, self.slots
        first, at_once = source.index, admission.at_once
        if stop - first < A_FEW or at_once is None:
            return first
        runs, aside = slots.split()
        stretch = Stretch(source.page, first, runs)
        until = stretch.reach(stop, admission.free, at_once)
        went = stretch.through(until, slots.free) if until - first >= A_FEW else None
        if went is None:
            return until
        admission.passed(went.held)
        source.index = until
        last = float(source.page.at[until - 1])
        for run in sorted(aside):
            if run[0] <= last:
                self.end_aside(*run[:3])
        slots.go_on(went.runs + [run for run in aside if run[0] > last], went.free)
        return until

    def _complete(self, to: float) -> float:
        """Let requests end up to `to` while none arrives; stop where an engine dies."""
        running, free, homes = self.slots.running, self.slots.free, self.slots.homes
        while running[0][0] <= to:
            end, slot, rank, _, _ = heappop(running)
            if homes[slot] is free:
                free.append(slot)
                self.start(self.admission.release(end, rank), end)
            else:
                self.end_aside(end, slot, rank)
            if self.died:
                return end
        return to

    def _prompts_matter(self) -> bool:
        """Say whether prompts matter to this model's admission or engines."""
        return self.source.prompts is not None and (
            self.kv_room < inf or self.admission.limits.reads_prompts
        )

    def offer(self, at: float, service_s: float, rank: int) -> Answer:
        """Offer the next request, with its prompt where prompts matter."""
        if self.shut:
            return ISOLATED
        source = self.source
        if not self._prompts_matter():
            self._offered = service_s
            return self.admission.offer(at, service_s, rank)
        prompts, tokens = source.prompts or (), source.tokens or ()
        prompt, total = prompts[source.index], tokens[source.index]
        weight = self.admission.limits.weigh(total, 0)
        self._offered = Prompted(service_s, weight, prompt, total)
        return self.admission.offer(at, self._offered, rank, weight, 0, prompt)

    # ------------------------------------------------------------------ out of the ordinary
    def settle(self, verdict: Answer, number: int, rank: int, at: float, service_s: float) -> float:
        """Carry out a verdict that is not plain; give the time if it is worth stopping at."""
        book = self.book
        book.apart.append(number)
        if isinstance(verdict, Ticket):
            if at + self.admission.patience < self.timer:
                self.arm(at + self.admission.patience)
        elif verdict.retry_after_s is not None:
            book.turn_away(rank, verdict.code, at)
            if self.refused_at == inf:
                self.refused_at = at
            return at
        elif verdict.status == OK:
            lent = verdict.pool is LENT
            handle = self._offered if self._prompts_matter() else service_s
            self._begin(handle, rank, at, at, lent=lent)
        else:
            book.refuse(rank, verdict.code)
        return inf if self.died else -inf

    def start(self, tickets: Sequence[Ticket[Handle]], now: float) -> None:
        """Let those who waited begin."""
        for ticket in tickets:
            if ticket.code is not IN_TURN:
                self.book.by_turn[ticket.rank][ticket.code] += 1
            self._begin(ticket.request, ticket.rank, ticket.arrived, now, lent=ticket.pool is LENT)

    def _begin(self, handle: Handle, rank: int, arrived: float, now: float, *, lent: bool) -> None:
        slots = self.slots
        slot = (slots.lent if lent else slots.free).popleft()
        service_s = handle if type(handle) is float else _seconds(handle)
        if slots.odd:
            service_s = slots.paced(slot, service_s)
        end = now + service_s
        heappush(slots.running, (end, slot, rank, arrived, now))
        self.book.starts[rank].extend((arrived, now, end))
        if isinstance(handle, Prompted):
            self._begin_prompted(handle, slot, (end, rank, now), lent=lent)

    def _begin_prompted(
        self, request: Prompted, slot: int, run: tuple[float, int, float], *, lent: bool
    ) -> None:
        """Take the further slots of a request that weighs more; see whether the engine bears it."""
        slots = self.slots
        end, rank, now = run
        for _ in range(request.weight - 1):
            further = (slots.lent if lent else slots.free).popleft()
            heappush(slots.running, (end, further, rank, PART, now))
            self.book.busy_s += end - now
        self.tokens_on[slot] = request.tokens
        if request.prompt > self.kv_room:
            self._crash(slot, now)

    def _crash(self, slot: int, now: float) -> None:
        """A prompt over the engine's memory ends the engine and all it was at."""
        engine = self.slots.engine_of[slot]
        if engine is not None:
            self.now = now
            self.died.append(engine)
            self.place(engine)
            self.cut(engine)

    def end_aside(self, end: float, slot: int, rank: int) -> None:
        """A timer, or the end of a request that ran on a lent slot or outside service."""
        if slot == TIMER:
            self._look(end)
            return
        home = self.slots.homes[slot]
        home.append(slot)
        if home is self.slots.lent:
            self.start(self.admission.release(end, rank, 1, LENT), end)

    def arm(self, at: float) -> None:
        """See that the queue is looked at by then."""
        if at < self.timer:
            self.timer = at
            heappush(self.slots.running, (at, TIMER, 0, 0.0, 0.0))

    def _look(self, at: float) -> None:
        """Let those go who waited too long, and those start whose turn came by time alone."""
        self.timer = inf
        admission = self.admission
        for ticket in admission.expire(at):
            self.book.turn_away(ticket.rank, admission.refusal(ticket).code, at)
            self.refused_at = min(self.refused_at, at)
        self.start(admission.poll(at), at)
        if admission.waiting:
            self.arm(min(admission.next_due(at), at + admission.patience))


def _seconds(handle: Handle) -> float:
    return handle.service_s if isinstance(handle, Prompted) else handle
