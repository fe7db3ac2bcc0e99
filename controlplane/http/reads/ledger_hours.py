"""The ledger by the hour: read once, kept, added up as often as anybody asks.

A day of a middling fleet has 60,000 rows. An hour that is billed whole never changes, so its sums
by who pays are kept; only the hours at the ends of a span are read again.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import NamedTuple

from controlplane.decide.costs.bill import bill
from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.quantities import Instant
from controlplane.http.state import State

HOUR_S = 3600.0
KEPT_HOURS = 24 * 62


class Payer(NamedTuple):
    """Who paid, for what, on which kind of device."""

    team: str | None
    model: str | None
    node_class: str
    kind: LineKind
    reconstructed: bool


class Paid(NamedTuple):
    """How much, in millionths, for how many device hours."""

    micros: int
    device_hours: float


class Stretch(NamedTuple):
    """The sums of a stretch of time, and its bill, which is computed apart from the rows."""

    start: Instant
    paid: Mapping[Payer, Paid]
    bill: int


class Hours:
    """Whole, billed hours."""

    def __init__(self) -> None:
        """Start with none."""
        self.kept: dict[Instant, Stretch] = {}

    def keep(self, stretch: Stretch) -> None:
        """Remember an hour; the one kept longest goes when there are too many."""
        self.kept[stretch.start] = stretch
        if len(self.kept) > KEPT_HOURS:
            del self.kept[next(iter(self.kept))]


async def stretches(state: State, start: Instant, end: Instant) -> AsyncIterator[Stretch]:
    """Give the sums of [start, end), cut at full hours."""
    hours = state.shared.thing("hours", Hours)
    billed_until = await state.ledger.billed_until()
    at = start
    while at < end:
        full = at - at % HOUR_S + HOUR_S
        until = min(end, full)
        stretch = hours.kept.get(at) if until - at == HOUR_S else None
        if stretch is None:
            stretch = summed(at, await state.ledger.rows(at, until))
            if until - at == HOUR_S and billed_until is not None and until <= billed_until:
                hours.keep(stretch)
            await asyncio.sleep(0)
        yield stretch
        at = until


def summed(start: Instant, rows: Iterable[LedgerRow]) -> Stretch:
    """Add rows up by who pays; the bill counts each device's interval once, at its price."""
    paid: dict[Payer, Paid] = {}
    prices: dict[tuple[str, int, Instant, Instant], int] = {}
    owed = 0
    for row in rows:
        payer = Payer(row.team, row.model, row.node_class, row.kind, row.reconstructed)
        so_far = paid.get(payer, Paid(0, 0.0))
        hours = 0.0
        if row.kind is LineKind.CROSS_ZONE:
            owed += row.micros
        else:
            prices[row.node, row.device, row.start, row.end] = row.price_micros_per_hour
            if row.price_micros_per_hour:
                hours = row.micros / row.price_micros_per_hour
        paid[payer] = Paid(so_far.micros + row.micros, so_far.device_hours + hours)
    owed += sum(bill(price, begin, end) for (_, _, begin, end), price in prices.items())
    return Stretch(start, paid, owed)
