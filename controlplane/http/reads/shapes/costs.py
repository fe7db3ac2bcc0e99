"""What the costs page draws: lines that add up to the bill."""

from collections.abc import Mapping

import msgspec

from controlplane.domain.quantities import Instant


class CostLine(msgspec.Struct, frozen=True, kw_only=True):
    """One bar or row: who or what, by what it was paid for."""

    key: str  # a day (2026-11-29), team, model, node class or kind
    by_kind: Mapping[str, int]  # a `LineKind` -> millionths
    total: int
    device_hours: float


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """What was paid between two moments, shown adding up: sum of lines = total = bill."""

    start: Instant
    end: Instant
    by: str  # day, team, model, node_class, kind
    currency: str
    lines: tuple[CostLine, ...]
    days: tuple[CostLine, ...]  # the same money by day, for the bars
    by_kind: Mapping[str, int]
    total: int
    bill: int  # every device of every interval x its price, computed apart
    adds_up: bool
    billed_until: Instant | None
    reconstructed: int  # of the total, what was billed after a gap
    team: str | None = None
    model: str | None = None
