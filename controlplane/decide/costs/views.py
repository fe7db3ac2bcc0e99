"""The ledger seen by team, model, class, kind or day, so that every view adds up.

Idle is nobody's: by default it keeps its own line. Who wants it shared gets each class's idle of a
day divided among those who held that class that day, in proportion to what they paid. It is shared
over *all* rows before any filter is applied, so two filtered views never hand out the same idle,
and every view is a part of the one whole. The idle of a class nobody used keeps its line.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from controlplane.domain.ledger import LedgerRow, LineKind, split_exactly
from controlplane.domain.quantities import ClassName, Instant, Micros, ModelName, Team

By: TypeAlias = Literal["team", "model", "node_class", "kind", "day"]
IdlePolicy: TypeAlias = Literal["own", "proportional"]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What one payer paid for one kind of holding of one class on one day."""

    day: str  # UTC, 2026-11-29
    node_class: ClassName
    kind: LineKind
    team: Team | None
    model: ModelName | None
    micros: Micros


KEYS: Mapping[By, Callable[[Line], str | None]] = {
    "team": lambda line: line.team,
    "model": lambda line: line.model,
    "node_class": lambda line: line.node_class,
    "kind": lambda line: line.kind,
    "day": lambda line: line.day,
}


def lines(rows: Iterable[LedgerRow], idle: IdlePolicy = "own") -> tuple[Line, ...]:
    """Add rows up to one line per day, class, kind, team and model; their sum is the bill."""
    sums: dict[tuple[str, ClassName, LineKind, Team | None, ModelName | None], int] = {}
    for row in rows:
        key = (_day(row.start), row.node_class, row.kind, row.team, row.model)
        sums[key] = sums.get(key, 0) + row.micros
    made = [
        Line(day=day, node_class=held, kind=kind, team=team, model=model, micros=Micros(paid))
        for (day, held, kind, team, model), paid in sums.items()
    ]
    made.sort(key=lambda one: (one.day, one.node_class, one.kind, one.team or "", one.model or ""))
    return tuple(made) if idle == "own" else _shared(made)


def totals(
    shown: Iterable[Line], by: By, keep: Callable[[Line], bool] = lambda _: True
) -> dict[str | None, Micros]:
    """Add the lines that are kept up by one property; None is the key of what nobody owns."""
    sums: dict[str | None, Micros] = {}
    for line in shown:
        if keep(line):
            key = KEYS[by](line)
            sums[key] = Micros(sums.get(key, 0) + line.micros)
    return sums


def _shared(made: list[Line]) -> tuple[Line, ...]:
    """Hand each day's and class's idle to those who held the class, by what they paid for it."""
    idle: dict[tuple[str, ClassName], int] = {}
    payers: dict[tuple[str, ClassName], dict[str, float]] = {}
    for number, line in enumerate(made):
        pool = (line.day, line.node_class)
        if line.kind is LineKind.IDLE:
            idle[pool] = line.micros
        elif line.kind is not LineKind.CROSS_ZONE and line.micros > 0:
            payers.setdefault(pool, {})[f"{number:09}"] = line.micros
    extra: dict[int, int] = {}
    for pool, spare in idle.items():
        for number_text, part in split_exactly(Micros(spare), payers.get(pool, {})).items():
            extra[int(number_text)] = part
    return tuple(
        msgspec.structs.replace(line, micros=Micros(line.micros + extra.get(number, 0)))
        for number, line in enumerate(made)
        if line.kind is not LineKind.IDLE or (line.day, line.node_class) not in payers
    )


def _day(at: Instant) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()
