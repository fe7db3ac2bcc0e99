"""The cost loop's cycle: bill every whole minute since the last one that is known to be billed.

What was held when the cluster was last looked at counts for the time until the next look. A look
that comes too late (the daemon was down), or that could not see the nodes, is billed all the same,
from what was last known, and marked reconstructed. A new catalogue cuts the interval at the moment
it came into force.

The ledger says up to when it is written, and rows are given again until it does: it does not
matter whether a crash came before or after the write, or before or after this memory was saved.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice, repeat
from math import floor

import msgspec

from controlplane.decide.costs.crossing import crossing_rows
from controlplane.decide.costs.holding import DevicesOf, Holding, hold
from controlplane.decide.costs.meter import Piece, Tariff, rows_of, tariff
from controlplane.domain.actions import Bill
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice, Target
from controlplane.domain.fleet import FleetView
from controlplane.domain.ledger import LedgerRow
from controlplane.domain.overrides import FLEET
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.domain.samples import NoData

INTERVAL_S = 60.0
LATE_AFTER_S = 90.0  # between two looks; beyond, what happened in between is a guess
MOST_INTERVALS = 120  # billed in one cycle; a long absence is caught up with over several


class CostSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One cycle's snapshot."""

    at: Instant
    view: FleetView
    billed_until: Instant | None  # what the ledger says
    catalogue_version: int = 0
    catalogue_since: Instant = 0.0  # when that version came into force
    crossed: Mapping[ModelName, float] = {}  # GiB that crossed zones since the last look


class CostMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What was last seen, what is not billed yet, and what is not known to be written yet."""

    at: Instant | None = None  # of the last look
    blind: bool = False  # the last look did not see the nodes
    holdings: tuple[Holding, ...] = ()
    rates: Tariff | None = None
    pieces: tuple[Piece, ...] = ()
    crossed: Mapping[ModelName, float] = {}
    unwritten: tuple[LedgerRow, ...] = ()


def cycle(
    seen: CostSeen, catalogue: Catalogue, devices_of: DevicesOf, memory: CostMemory
) -> tuple[tuple[LedgerRow, ...], CostMemory]:
    """Give the rows to write, and the new memory. `devices_of` is what a variant's replica holds.

    A clock that went back bills nothing until it has caught up.
    """
    rates = _rates(catalogue, seen.catalogue_version, memory.rates)
    holdings = _holdings(seen, catalogue, devices_of, memory)
    before = memory
    if memory.at is None:
        begun = seen.at if seen.billed_until is None else min(seen.billed_until, seen.at)
        before = CostMemory(at=begun, holdings=holdings, rates=rates)
    elif seen.at < memory.at:
        return memory.unwritten, memory
    written = seen.billed_until if seen.billed_until is not None else -1.0
    pieces = [piece for piece in _pieces(before, seen.at) if piece.end > written]
    pieces = [_clipped(piece, written, piece.end) for piece in pieces]
    rows, left = _bill(pieces, seen, rates, before)
    crossed = _added(before.crossed, seen.crossed)
    if rows and crossed:
        span = (rows[-1].start, rows[-1].end)
        rows += crossing_rows(crossed, catalogue, span, rates.version)
        crossed = {}
    unwritten = (*(row for row in before.unwritten if row.end > written), *rows)
    return unwritten, CostMemory(
        at=seen.at,
        blind=isinstance(seen.view.nodes, NoData),
        holdings=holdings,
        rates=rates,
        pieces=left,
        crossed=crossed,
        unwritten=unwritten,
    )


class Metered(msgspec.Struct, frozen=True, kw_only=True):
    """What a cycle billed, in sum: the input of what the journal says about it."""

    until: Instant
    rows: int
    late_s: float = 0.0  # seconds that were billed from what was last known


def metered(rows: tuple[LedgerRow, ...]) -> Metered | None:
    """Sum up what is to be written; None when nothing is."""
    if not rows:
        return None
    late = [row for row in rows if row.reconstructed]
    late_s = max(row.end for row in late) - min(row.start for row in late) if late else 0.0
    return Metered(until=max(row.end for row in rows), rows=len(rows), late_s=late_s)


def decide_metered(seen: Metered) -> Choice:
    """Have it written, and say what was billed."""
    until = datetime.fromtimestamp(seen.until, UTC)
    told = Evidence("until", until.isoformat(timespec="seconds"))
    figure = Target(0).note(ReasonCode.METERED, told, Evidence("rows", seen.rows))
    if seen.late_s:
        late = Evidence("seconds", seen.late_s, None, "s")
        figure = figure.note(ReasonCode.RECONSTRUCTED, late)
    return Choice(
        subject=FLEET, current=0, target=0, trail=figure.trail, actions=(Bill(),), seen=seen
    )


def _rates(catalogue: Catalogue, version: int, before: Tariff | None) -> Tariff:
    """Give what is in force; what the catalogue forgot but is still there keeps its last price."""
    now = tariff(catalogue, version)
    if before is None:
        return now
    return Tariff(version, {**before.prices, **now.prices}, {**before.teams, **now.teams})


def _holdings(
    seen: CostSeen, catalogue: Catalogue, devices_of: DevicesOf, memory: CostMemory
) -> tuple[Holding, ...]:
    if isinstance(seen.view.nodes, NoData):
        return memory.holdings
    kept = {holding.node: holding for holding in memory.holdings}
    return hold(seen.view.nodes, seen.view.replicas, catalogue, devices_of, kept)


def _pieces(before: CostMemory, now: Instant) -> list[Piece]:
    """Let what was last seen stand until now; a holding that goes on lengthens its piece."""
    begun = before.at if before.at is not None else now
    if begun >= now:
        return list(before.pieces)
    late = before.blind or now - begun > LATE_AFTER_S
    pieces = list(before.pieces)
    last = {piece.holding.node: index for index, piece in enumerate(pieces)}
    for holding in before.holdings:
        index = last.get(holding.node)
        piece = Piece(begun, now, holding, late)
        if index is not None:
            old = pieces[index]
            if (old.end, old.holding, old.reconstructed) == (begun, holding, late):
                pieces[index] = Piece(old.start, now, holding, late)
                continue
        pieces.append(piece)
    return pieces


def _bill(
    pieces: list[Piece], seen: CostSeen, rates: Tariff, before: CostMemory
) -> tuple[tuple[LedgerRow, ...], tuple[Piece, ...]]:
    """Bill the whole intervals; give their rows and the pieces that are left."""
    rows: list[LedgerRow] = []
    start = min((piece.start for piece in pieces), default=seen.at)
    change = start
    most: int | None = MOST_INTERVALS
    if rates != before.rates and before.rates is not None:
        # The old tariff was in force at the last look. What it covers is billed at once.
        change, most = max(start, before.at or start, min(seen.catalogue_since, seen.at)), None
    for _ in islice(repeat(None), most):
        end = (floor(start / INTERVAL_S) + 1) * INTERVAL_S
        if start < change < end:
            end = change
        if end > seen.at:
            break
        within = [_clipped(p, start, end) for p in pieces if p.start < end and p.end > start]
        rows += rows_of(within, (before.rates or rates) if start < change else rates)
        start = end
    left = (_clipped(piece, start, piece.end) for piece in pieces if piece.end > start)
    return tuple(rows), tuple(left)


def _clipped(piece: Piece, start: Instant, end: Instant) -> Piece:
    if piece.start >= start and piece.end <= end:
        return piece
    begins, ends = max(piece.start, start), min(piece.end, end)
    return Piece(begins, ends, piece.holding, piece.reconstructed)


def _added(
    some: Mapping[ModelName, float], more: Mapping[ModelName, float]
) -> dict[ModelName, float]:
    return {name: some.get(name, 0.0) + more.get(name, 0.0) for name in {**some, **more}}
