"""Tenants of one class take turns. Admission says which place is next, this says who stands there.

Admission's queues are first come, first served. Where several tenants wait in a class, the request
that has the place changes places with the first of the tenant whose turn it is: nobody's flood is
in anybody's way, and what admission decided (how many, of which class, when) stays as it was.
Who has waited long keeps the place.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from heapq import nlargest

from controlplane.decide.admission.verdicts import Ticket
from controlplane.domain.priorities import PRIORITIES
from controlplane.gateway.entry import Entry

KEEPS_PLACE_S = 10.0
NAMED = 5  # tenants of a class, of those that wait


class Turns:
    """Who waits, by class and tenant, in the order of their turns."""

    def __init__(self) -> None:
        """Start with nobody."""
        self._lines: list[OrderedDict[str, deque[Entry]]] = [OrderedDict() for _ in PRIORITIES]

    def join(self, entry: Entry) -> None:
        """Wait; a tenant that did not wait before comes after those that did."""
        line = self._lines[entry.asked.rank]
        waiting = line.get(entry.asked.tenant)
        if waiting is None:
            line[entry.asked.tenant] = deque((entry,))
        else:
            waiting.append(entry)

    def leave(self, entry: Entry) -> None:
        """Wait no longer."""
        line, tenant = self._lines[entry.asked.rank], entry.asked.tenant
        waiting = line[tenant]
        waiting.remove(entry)
        if not waiting:
            del line[tenant]

    def next(self, ticket: Ticket[Entry], now: float) -> Entry:
        """Give the request that takes this place, and let its tenant's turn pass."""
        entry, line = ticket.request, self._lines[ticket.rank]
        if now - entry.arrived < KEEPS_PLACE_S:
            first = next(iter(line.values()))[0]
            if first is not entry and first.asked.weight == ticket.weight:
                entry = _exchanged(ticket, first)
        self.leave(entry)
        if entry.asked.tenant in line:
            line.move_to_end(entry.asked.tenant)
        return entry

    def most(self, rank: int) -> dict[str, int]:
        """Name the tenants of a class with most requests waiting."""
        line = self._lines[rank]
        if not line:
            return {}
        counts = ((len(waiting), tenant) for tenant, waiting in line.items())
        return {tenant: count for count, tenant in nlargest(NAMED, counts)}

    def everybody(self) -> Iterator[Entry]:
        """Give all who wait."""
        for line in self._lines:
            for waiting in list(line.values()):
                yield from list(waiting)


def _exchanged(ticket: Ticket[Entry], first: Entry) -> Entry:
    """Let two requests change places."""
    entry, other = ticket.request, first.ticket
    if other is not None and other is not ticket:
        entry.ticket, other.request = other, entry
        first.ticket, ticket.request = ticket, first
    return first
