"""What was paid between two moments, by whom and for what, shown adding up to the bill."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from controlplane.domain.quantities import Instant
from controlplane.http.reads.ledger_hours import Paid, Payer, stretches
from controlplane.http.reads.shapes.costs import CostLine, Costs
from controlplane.http.state import State

By: TypeAlias = Literal["day", "team", "model", "node_class", "kind"]
NOBODY = "—"  # the key of a line that no team or model pays
DAY_S = 86_400
KEPT_S = 5.0

KEYS: Mapping[By, Callable[[Payer, Instant], str]] = {
    "day": lambda _, at: day_of(at),
    "team": lambda payer, _: payer.team or NOBODY,
    "model": lambda payer, _: payer.model or NOBODY,
    "node_class": lambda payer, _: payer.node_class,
    "kind": lambda payer, _: str(payer.kind),
}


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
        self.hours = 0.0

    def add(self, payer: Payer, paid: Paid) -> None:
        """Add what somebody paid."""
        self.by_kind[payer.kind] = self.by_kind.get(payer.kind, 0) + paid.micros
        self.hours += paid.device_hours

    @property
    def total(self) -> int:
        """All kinds together."""
        return sum(self.by_kind.values())

    def line(self, key: str) -> CostLine:
        """Give the line."""
        return CostLine(
            key=key, by_kind=dict(self.by_kind), total=self.total, device_hours=self.hours
        )


async def costs(state: State, query: CostQuery) -> Costs:
    """Add the ledger up. A filter narrows the lines, never the bill they are checked against."""
    name = f"costs:{msgspec.json.encode(query).decode()}"
    return await state.shared.once(name, KEPT_S, lambda: _costs(state, query))


async def cost_today(state: State, model: str) -> int | None:
    """Give what a model cost since midnight UTC; None before anything was billed."""
    return (await costs_today(state)).get(model)


async def costs_today(state: State) -> Mapping[str, int]:
    """Give what each model cost since midnight UTC, where anything was billed for it."""
    return await state.shared.once("today", KEPT_S, lambda: _today(state))


async def _today(state: State) -> Mapping[str, int]:
    now = state.clock.now()
    by_model: dict[str, int] = {}
    async for stretch in stretches(state, now - now % DAY_S, now):
        for payer, paid in stretch.paid.items():
            if payer.model is not None:
                by_model[payer.model] = by_model.get(payer.model, 0) + paid.micros
    return by_model


async def _costs(state: State, query: CostQuery) -> Costs:
    lines: dict[str, Tally] = {}
    days: dict[str, Tally] = {}
    everything, shown = Tally(), Tally()
    owed = reconstructed = 0
    async for stretch in stretches(state, query.start, query.end):
        owed += stretch.bill
        for payer, paid in stretch.paid.items():
            everything.add(payer, paid)
            if not _wanted(payer, query):
                continue
            shown.add(payer, paid)
            lines.setdefault(KEYS[query.by](payer, stretch.start), Tally()).add(payer, paid)
            days.setdefault(day_of(stretch.start), Tally()).add(payer, paid)
            reconstructed += paid.micros if payer.reconstructed else 0
    made = _lines(lines, by_size=query.by != "day")
    return Costs(
        start=query.start,
        end=query.end,
        by=query.by,
        currency=state.in_force.catalogue.currency,
        lines=made,
        days=_lines(days, by_size=False),
        by_kind=shown.by_kind,
        total=shown.total,
        bill=owed,
        adds_up=everything.total == owed and sum(one.total for one in made) == shown.total,
        billed_until=await state.ledger.billed_until(),
        reconstructed=reconstructed,
        team=query.team,
        model=query.model,
    )


def _wanted(payer: Payer, query: CostQuery) -> bool:
    return query.team in {None, payer.team} and query.model in {None, payer.model}


def _lines(tallies: Mapping[str, Tally], *, by_size: bool) -> tuple[CostLine, ...]:
    made = [tally.line(key) for key, tally in tallies.items()]
    if by_size:
        return tuple(sorted(made, key=lambda one: (-one.total, one.key)))
    return tuple(sorted(made, key=lambda one: one.key))


def day_of(at: Instant) -> str:
    """Give the day, UTC."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()
