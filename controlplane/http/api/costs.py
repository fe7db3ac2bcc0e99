"""Routes: what was paid, for whom, adding up to the bill; the ledger itself; FOCUS."""

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from controlplane.domain.ledger import LedgerRow
from controlplane.domain.quantities import Instant
from controlplane.http.api.checking import instant
from controlplane.http.api.csv import CSV, line
from controlplane.http.api.focus import COLUMNS, focus_cells
from controlplane.http.api.route import Call, Route
from controlplane.http.problems import bad
from controlplane.http.reads.costs import By, CostQuery, costs
from controlplane.http.reads.shapes.costs import Costs
from controlplane.http.state import State

DAY_S = 86_400.0
CHUNK_S = 3600.0  # the ledger is read and sent hour by hour, so a month needs no memory
LONGEST_S = 400 * DAY_S
MOMENT = "ISO 8601 or seconds since 1970."


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """From when to when."""

    start: Annotated[str | None, Meta(description="Default: the last midnight UTC. " + MOMENT)] = (
        None
    )
    end: Annotated[str | None, Meta(description="Default: now; not included. " + MOMENT)] = None


class CostFilter(Span, frozen=True, kw_only=True):
    """From when to when, by what, and whose."""

    by: Annotated[By, Meta(description="What makes a line.")] = "team"
    team: Annotated[str | None, Meta(description="Only what this team pays.")] = None
    model: Annotated[str | None, Meta(description="Only what this model costs.")] = None


class LedgerPage(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of the ledger; `next_start` is set when more were left."""

    start: Instant
    end: Instant
    currency: str
    rows: tuple[LedgerRow, ...]
    next_start: Instant | None = None


class LedgerFilter(Span, frozen=True, kw_only=True):
    """From when to when, and how many rows."""

    limit: Annotated[
        int, Meta(ge=1, le=100_000, description="Stop after the hour that reaches so many rows.")
    ] = 10_000


def span(state: State, wanted: Span) -> tuple[Instant, Instant]:
    """Give the moments a caller means."""
    now = state.clock.now()
    end = instant("end", wanted.end, now)
    start = instant("start", wanted.start, min(now, end) - min(now, end) % DAY_S)
    if start >= end:
        raise bad("start", wanted.start or start, f"must be before end ({wanted.end or end})")
    if end - start > LONGEST_S:
        raise bad("start", wanted.start, "must be at most 400 days before end")
    return start, end


async def _costs(call: Call) -> Costs:
    wanted: CostFilter = call.params
    start, end = span(call.state, wanted)
    query = CostQuery(
        start=start, end=end, by=wanted.by, team=wanted.team or None, model=wanted.model or None
    )
    return await costs(call.state, query)


async def by_hour(
    state: State, start: Instant, end: Instant
) -> AsyncIterator[tuple[Instant, list[LedgerRow]]]:
    """Give the ledger hour by hour: the hour's end, its rows."""
    at = start
    while at < end:
        until = min(end, at - at % CHUNK_S + CHUNK_S)
        yield until, list(await state.ledger.rows(at, until))
        at = until


async def _ledger(call: Call) -> LedgerPage:
    start, end = span(call.state, call.params)
    rows: list[LedgerRow] = []
    reached = end
    async for until, of_hour in by_hour(call.state, start, end):
        rows += of_hour
        if len(rows) >= call.params.limit and until < end:
            reached = until
            break
    return LedgerPage(
        start=start,
        end=reached,
        currency=call.state.in_force.catalogue.currency,
        rows=tuple(rows),
        next_start=reached if reached < end else None,
    )


async def _focus(call: Call) -> web.StreamResponse:
    """Send FOCUS rows as they are read; a month of minutes does not fit in memory."""
    start, end = span(call.state, call.params)
    headers = {"Content-Disposition": 'attachment; filename="focus.csv"'}
    response = web.StreamResponse(headers=headers)
    response.content_type, response.charset = CSV, "utf-8"
    await response.prepare(call.request)
    await response.write(line(COLUMNS).encode())
    async for _, rows in by_hour(call.state, start, end):
        text = "".join(line(focus_cells(row, call.state)) for row in rows)
        if text:
            await response.write(text.encode())
    await response.write_eof()
    return response


ROUTES = (
    Route(
        method="GET",
        path="/costs",
        summary="What was paid by day, team, model, node class or kind; the lines add up.",
        run=_costs,
        answer=Costs,
        tag="costs",
        params=CostFilter,
        table=lambda found: found.lines,
    ),
    Route(
        method="GET",
        path="/ledger",
        summary="The ledger: who paid for which device in which interval, whole millionths.",
        run=_ledger,
        answer=LedgerPage,
        tag="costs",
        params=LedgerFilter,
        table=lambda page: page.rows,
    ),
    Route(
        method="GET",
        path="/ledger/focus.csv",
        summary="The ledger in the columns of FOCUS 1.2.",
        run=_focus,
        answer=None,
        tag="costs",
        params=Span,
        produces=CSV,
    ),
)
