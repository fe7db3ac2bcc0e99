"""A front door in miniature: feeds an Admission with arrivals and completions in time order.

It knows nothing of the world's station, so both can be checked against each other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

from controlplane.decide.admission.admission import Admission
from controlplane.decide.admission.verdicts import Ticket, Verdict
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.reasons import ReasonCode

HIGH, MEDIUM, LOW = 0, 1, 2


@dataclass
class Seen:
    """One request that got a slot."""

    name: str
    rank: int
    arrived: float
    started: float
    code: ReasonCode

    @property
    def wait(self) -> float:
        return self.started - self.arrived


@dataclass
class Door:
    """Every request takes `service_s` on its slot; `arrivals` are (at, name, rank), rising."""

    policy: AdmissionPolicy
    slots: int
    ready: int = 1
    service_s: float = 1.0
    started: list[Seen] = field(default_factory=list)
    refused: list[tuple[str, Verdict]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.admission: Admission[str] = Admission(self.policy)
        self.ends: list[tuple[float, int]] = []
        self.admission.capacity(0.0, ready=self.ready, slots=self.slots, service_s=self.service_s)

    def run(self, arrivals: Iterable[tuple[float, str, int]], until: float = inf) -> list[Seen]:
        for at, name, rank in arrivals:
            if at > until:
                break
            self.pass_time(at)
            self.offer(at, name, rank)
        if until < inf:
            self.pass_time(until)
        return self.started

    def offer(self, at: float, name: str, rank: int) -> None:
        verdict = self.admission.offer(at, name, rank)
        if isinstance(verdict, Ticket):
            return
        if verdict.admitted:
            self._begin(Seen(name, rank, at, at, verdict.code))
        else:
            self.refused.append((name, verdict))

    def pass_time(self, to: float) -> None:
        """Let requests end and turns come by time alone, in order."""
        now = 0.0
        while True:
            end = self.ends[0][0] if self.ends else inf
            due = self.admission.next_due(now) if self.admission.waiting else inf
            now = min(end, due)
            if now > to:
                return
            if end <= due:
                _, rank = heappop(self.ends)
                self._start(self.admission.release(end, rank), end)
            else:
                for ticket in self.admission.expire(due):
                    self.refused.append((ticket.request, self.admission.refusal(ticket)))
                self._start(self.admission.poll(due), due)

    def _start(self, tickets: Sequence[Ticket[str]], now: float) -> None:
        for ticket in tickets:
            self._begin(Seen(ticket.request, ticket.rank, ticket.arrived, now, ticket.code))

    def _begin(self, seen: Seen) -> None:
        self.started.append(seen)
        heappush(self.ends, (seen.started + self.service_s, seen.rank))


def names(seen: Iterable[Seen]) -> list[str]:
    return [s.name for s in seen]
