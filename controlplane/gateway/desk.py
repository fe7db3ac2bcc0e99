"""One model's desk: its admission, who waits, what was counted, what its breaker says.

Slots never leak: whatever ends a request ends in `end`, which may be called twice.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, inf

from controlplane.clock import stopwatch
from controlplane.decide.admission.admission import Admission
from controlplane.decide.admission.capacity import SERVING
from controlplane.decide.admission.verdicts import Ticket, Verdict
from controlplane.domain.gateway import ServedModel
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.reasons import ReasonCode
from controlplane.gateway.asking import Asked
from controlplane.gateway.entry import Entry, Stage
from controlplane.gateway.evictions import Evictions
from controlplane.gateway.refusals import Refusal, of_verdict, refusal
from controlplane.gateway.tally import ClassTally
from controlplane.gateway.turns import Turns

HIGHEST, LOWEST = 0, len(PRIORITIES) - 1
GATEWAY_TIMEOUT = 504
WANT_OF_CAPACITY = frozenset(
    {ReasonCode.QUEUE_FULL, ReasonCode.NO_ENDPOINTS, ReasonCode.WAITED_TOO_LONG}
)
SOON_S = 0.001


class Desk:
    """Takes requests for one model and gives them slots."""

    def __init__(
        self, model: ServedModel, longest_wait_s: float, breach: Callable[[str, str], None]
    ) -> None:
        """Open with the slots the model has."""
        self.model = model
        self.tallies = [ClassTally() for _ in PRIORITIES]
        self.admission: Admission[Entry] = Admission(bounded(model.admission, longest_wait_s))
        self.shut: int | None = None  # seconds after which to ask again, while the breaker is open
        self.probe = False  # the next request may probe it
        self.foreign = 0  # running requests of which we have no stream: from before a restart
        self.share = 1.0
        self.granted: int | None = None  # slots others left to us, where they are shared
        self._breach = breach
        self._turns = Turns()
        self.evictions = Evictions()
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = inf
        self._limits = _limits(model)
        self._part = self._largest = 0  # even part of all slots; slots of the largest replica
        self.stirred = True  # something happened since the last look
        self.moved = True  # … since slots were last asked for

    def revise(self, model: ServedModel, longest_wait_s: float) -> None:
        """Go on with another version of the model; who waits keeps waiting."""
        now = stopwatch()
        if model.admission != self.model.admission:
            self._begin(self.admission.revise(now, bounded(model.admission, longest_wait_s)), now)
        self.model = model
        self._limits = _limits(model)
        self.resize()

    def resize(self) -> None:
        """Count the slots anew."""
        model, now = self.model, stopwatch()
        slots = sum(at.slots for at in model.serving)
        # No part is less than a slot: else those who ask at this door would wait for ever.
        self._part = max(1, int(slots * self.share)) if slots else 0
        self._largest = max((at.slots for at in model.serving), default=0)
        mine = self._part if self.granted is None else self.granted
        lent = int(sum(at.slots for at in model.lending) * self.share)
        ready = sum(at.taking for at in model.serving)
        if self.admission.held != (slots > 0 and not ready):  # none of them takes anything new
            self._begin(self.admission.hold(now, on=not self.admission.held), now)
        self._begin(
            self.admission.capacity(
                now,
                ready=ready if self.share >= 1 else int(ready * self.share),
                slots=mine,
                lent=lent,
                largest=self._largest,
                service_s=model.service_s,
            ),
            now,
        )
        self._arm(now)

    def carry(self, foreign: int) -> None:
        """Count running requests we have no stream of: they hold slots all the same."""
        mine = ceil(foreign * self.share)
        more, self.foreign = mine - self.foreign, mine
        self.admission.count(LOWEST, more, SERVING)
        self.stirred = True
        if more < 0:
            now = stopwatch()
            self._begin(self.admission.poll(now), now)

    def offer(self, asked: Asked, loop: asyncio.AbstractEventLoop) -> Entry:
        """Take a request: it runs, waits or is refused when this returns."""
        now = stopwatch()
        entry = Entry(asked, now)
        rank = asked.rank
        tally = self.tallies[rank]
        tally.arrived += 1
        self.stirred = self.moved = True
        tally.malformed += asked.malformed
        if self.shut is not None and not self._may_probe(entry):
            said = refusal(ReasonCode.BREAKER_OPEN, 503, retry_after_s=self.shut)
            return self._refuse(entry, said)
        if self._part < asked.weight <= self._largest:
            asked.weight = self._part  # a replica can serve it; more slots are never ours alone
        given = self.admission.offer(
            now, entry, rank, asked.weight, asked.size, asked.prompt_tokens
        )
        if isinstance(given, Ticket):
            self._queue(entry, given, loop)
        elif given.admitted:
            entry.pool, entry.stage = given.pool, Stage.RUNNING
            tally.admitted += 1
            tally.running += 1
            tally.wait.add(0.0)
            self.evictions.started(entry)
        else:
            self._answer(entry, given)
        return entry

    def _queue(self, entry: Entry, ticket: Ticket[Entry], loop: asyncio.AbstractEventLoop) -> None:
        """Let it wait."""
        entry.ticket = ticket
        entry.moved = loop.create_future()
        self._turns.join(entry)
        if not self._largest:
            self._breach(self.model.name, "waiting")
        if entry.asked.deadline_s is not None:
            entry.deadline = loop.call_later(entry.asked.deadline_s, self._too_late, entry)
        if entry.asked.rank == HIGHEST:
            self.evictions.make_room(self.admission.queued[HIGHEST])
        self._arm(entry.arrived)

    def _answer(self, entry: Entry, verdict: Verdict) -> None:
        """Say why it cannot be served, with the figures where there are any."""
        if verdict.code is ReasonCode.PROMPT_TOO_LONG:
            limit = self.model.admission.prompt_limit
            said = refusal(
                verdict.code, verdict.status, seen=entry.asked.prompt_tokens, limit=limit
            )
        elif verdict.code is ReasonCode.TOO_HEAVY:
            limit = max((at.slots for at in self.model.serving), default=0)
            said = refusal(verdict.code, verdict.status, seen=entry.asked.weight, limit=limit)
        else:
            self._turn_away(entry, verdict)
            return
        self._refuse(entry, said)

    def end(self, entry: Entry) -> None:
        """The request is over, however it ended; its slot goes to the next at once."""
        stage, entry.stage = entry.stage, Stage.OVER
        if stage not in (Stage.WAITING, Stage.RUNNING):
            return
        now, asked = stopwatch(), entry.asked
        self.stirred = self.moved = True
        tally = self.tallies[asked.rank]
        if stage is Stage.RUNNING:
            tally.running -= 1
            tally.ended += 1
            tally.latency.add(now - entry.arrived)
            tally.held_s += now - entry.started
            tally.evicted += self.evictions.ended(entry)
        else:
            tally.left += 1
            self._turns.leave(entry)
        entry.move(Stage.OVER)
        if entry.ticket is not None:
            started = self.admission.leave(now, entry.ticket)
        else:
            started = self.admission.release(now, asked.rank, asked.weight, entry.pool)
        if started:
            self._begin(started, now)

    def look(self, now: float) -> None:
        """Note how it is now, and whether somebody has waited beyond what was promised."""
        self.stirred = self.admission.waiting > 0
        for rank, tally in enumerate(self.tallies):
            tally.queued = self.admission.queued[rank]
            tally.slots = self.admission.in_flight[rank]
            tally.tenants = self._turns.most(rank)
            tally.oldest_s = 0.0
        for head in self.admission.heads():
            waited = now - head.arrived
            self.tallies[head.rank].oldest_s = waited
            if waited > self._limits[head.rank]:
                self._breach(self.model.name, "wait")

    def close(self) -> None:
        """Refuse whoever still waits: the model has left the catalogue."""
        for entry in self._turns.everybody():
            self._refuse_waiting(entry, ReasonCode.NO_ENDPOINTS, 503)

    def _may_probe(self, entry: Entry) -> bool:
        """Let one request through an open breaker when it is time."""
        entry.probe, self.probe = self.probe, False
        return entry.probe

    def _begin(self, started: Sequence[Ticket[Entry]], now: float) -> None:
        """Let those go on whose turn has come; within a class, tenants take turns."""
        for ticket in started:
            entry = self._turns.next(ticket, now)
            entry.started = now
            waited = now - entry.arrived
            tally = self.tallies[ticket.rank]
            tally.admitted += 1
            tally.running += 1
            tally.aged += ticket.code is ReasonCode.AGED
            tally.minimum += ticket.code is ReasonCode.MINIMUM_SERVICE
            tally.wait.add(waited)
            if waited > self._limits[ticket.rank]:
                self._breach(self.model.name, "wait")
            entry.move(Stage.RUNNING)
            self.evictions.started(entry)

    def _too_late(self, entry: Entry) -> None:
        entry.deadline = None
        if entry.stage is Stage.WAITING:
            self._refuse_waiting(entry, ReasonCode.DEADLINE_PASSED, GATEWAY_TIMEOUT)

    def _refuse_waiting(self, entry: Entry, code: ReasonCode, status: int) -> None:
        """Take a waiting request out of the queue and say why."""
        self._turns.leave(entry)
        self._refuse(entry, refusal(code, status))
        if entry.ticket is not None:
            now = stopwatch()
            self._begin(self.admission.leave(now, entry.ticket), now)

    def _refuse(self, entry: Entry, said: Refusal) -> Entry:
        entry.refusal = said
        self.tallies[entry.asked.rank].refuse(said.code)
        entry.move(Stage.REFUSED)
        return entry

    def _turn_away(self, entry: Entry, verdict: Verdict) -> None:
        """Pass on what admission said; want of capacity is news for whoever decides on it."""
        entry.refusal = of_verdict(verdict)
        self.tallies[entry.asked.rank].refuse(verdict.code)
        if verdict.code in WANT_OF_CAPACITY:
            self._breach(self.model.name, "turned-away")
        entry.move(Stage.REFUSED)

    def _arm(self, now: float) -> None:
        """See to it that turns that come by time alone come in time."""
        if not self.admission.waiting:
            return
        due = self.admission.next_due(now)
        if due < self._alarm_at:
            if self._alarm is not None:
                self._alarm.cancel()
            loop = asyncio.get_running_loop()
            self._alarm_at = due
            self._alarm = loop.call_later(max(due - now, SOON_S), self._ring)

    def _ring(self) -> None:
        """Let time do its work: some have waited too long, some have waited long enough."""
        self._alarm, self._alarm_at = None, inf
        now = stopwatch()
        for ticket in self.admission.expire(now):
            entry = ticket.request
            self._turns.leave(entry)
            self._turn_away(entry, self.admission.refusal(ticket))
        self._begin(self.admission.poll(now), now)
        self._arm(now)


def bounded(policy: AdmissionPolicy, longest_wait_s: float) -> AdmissionPolicy:
    """Give the policy under which nobody waits for ever."""
    waits = {p: min(policy.max_wait_s.get(p, inf), longest_wait_s) for p in PRIORITIES}
    return replace(policy, max_wait_s=waits)


def _limits(model: ServedModel) -> list[float]:
    return [model.wait_limits.get(priority, inf) for priority in PRIORITIES]
