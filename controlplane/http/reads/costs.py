"""What was paid between two moments, by whom and for what, shown adding up to the bill."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Literal, TypeAlias

import msgspec

from controlplane.decide.costs.bill import bill
from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.quantities import Instant
from controlplane.http.reads.shapes.costs import CostLine, Costs
from controlplane.http.state import State

By: TypeAlias = Literal["day", "team", "model", "node_class", "kind"]
NOBODY = "—"  # the key of a line that no team or model pays
CHUNK_S = 6 * 3600


class CostQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which costs to show."""

    start: Instant
    end: Instant
    by: By = "team"
    team: str | None = None
    model: str | None = None


class Tally:
    """Adds up one line."""

    def __init__(self) -> None:
        """Start at nothing."""
        self.by_kind: dict[str, int] = {}
        self.hours = Fraction(0)

    def add(self, row: LedgerRow) -> None:
        """Add a row."""
        self.by_kind[row.kind] = self.by_kind.get(row.kind, 0) + row.micros
        if row.kind is not LineKind.CROSS_ZONE and row.price_micros_per_hour:
            self.hours += Fraction(row.micros, row.price_micros_per_hour)

    def line(self, key: str) -> CostLine:
        """Give the line."""
        return CostLine(
            key=key,
            by_kind=dict(self.by_kind),
            total=sum(self.by_kind.values()),
            device_hours=float(self.hours),
        )


KEYS: Mapping[By, Callable[[LedgerRow], str]] = {
    "day": lambda row: day_of(row.start),
    "team": lambda row: row.team or NOBODY,
    "model": lambda row: row.model or NOBODY,
    "node_class": lambda row: row.node_class,
    "kind": lambda row: str(row.kind),
}


async def costs(state: State, query: CostQuery) -> Costs:
    """Add the ledger up. A filter narrows the lines, never the bill they are checked against."""
    name = f"costs:{msgspec.json.encode(query).decode()}"
    return await state.shared.once(name, 5.0, lambda: _costs(state, query))


async def _costs(state: State, query: CostQuery) -> Costs:
    lines: dict[str, Tally] = {}
    days: dict[str, Tally] = {}
    everything, shown = Tally(), Tally()
    owed = reconstructed = 0
    at = query.start
    while at < query.end:  # in pieces: a month of minutes need not be in memory at once
        until = min(query.end, at - at % CHUNK_S + CHUNK_S)
        rows = await state.ledger.rows(at, until)
        owed += billed(rows)
        for row in rows:
            everything.add(row)
            if not _wanted(row, query):
                continue
            shown.add(row)
            lines.setdefault(KEYS[query.by](row), Tally()).add(row)
            days.setdefault(day_of(row.start), Tally()).add(row)
            reconstructed += row.micros if row.reconstructed else 0
        at = until
    total = shown.line("").total
    made = _lines(lines, by_size=query.by != "day")
    return Costs(
        start=query.start,
        end=query.end,
        by=query.by,
        currency=state.in_force.catalogue.currency,
        lines=made,
        days=_lines(days, by_size=False),
        by_kind=shown.by_kind,
        total=total,
        bill=owed,
        adds_up=everything.line("").total == owed and sum(one.total for one in made) == total,
        billed_until=await state.ledger.billed_until(),
        reconstructed=reconstructed,
        team=query.team,
        model=query.model,
    )


def _wanted(row: LedgerRow, query: CostQuery) -> bool:
    return query.team in {None, row.team} and query.model in {None, row.model}


def _lines(tallies: Mapping[str, Tally], *, by_size: bool) -> tuple[CostLine, ...]:
    made = [tally.line(key) for key, tally in tallies.items()]
    if by_size:
        return tuple(sorted(made, key=lambda one: (-one.total, one.key)))
    return tuple(sorted(made, key=lambda one: one.key))


def billed(rows: Iterable[LedgerRow]) -> int:
    """Compute the bill apart from the rows' amounts: each device's interval once, at its price."""
    besides = 0
    prices: dict[tuple[str, int, Instant, Instant], int] = {}
    for row in rows:
        if row.kind is LineKind.CROSS_ZONE:
            besides += row.micros
        else:
            prices[row.node, row.device, row.start, row.end] = row.price_micros_per_hour
    return besides + sum(bill(price, start, end) for (_, _, start, end), price in prices.items())


def day_of(at: Instant) -> str:
    """Give the day, UTC."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()
