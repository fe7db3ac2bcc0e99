"""Routes: what was decided and why."""

from typing import Annotated

import msgspec
from msgspec import Meta

from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import ReasonCode
from controlplane.http.api.checking import instant
from controlplane.http.api.route import Call, Route
from controlplane.http.problems import bad, missing
from controlplane.http.reads.decisions import decision_detail, decision_list
from controlplane.http.reads.shapes.decisions import DecisionDetail, DecisionList
from controlplane.ports import DecisionQuery

MOMENT = "ISO 8601 or seconds since 1970."


class DecisionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which decisions to list."""

    model: Annotated[str | None, Meta(description="Only decisions about this subject.")] = None
    loop: Annotated[str | None, Meta(description="Only decisions of this loop.")] = None
    code: Annotated[ReasonCode | None, Meta(description="Only decisions this code decided.")] = None
    moved: Annotated[bool, Meta(description="Only decisions that changed a target.")] = False
    before: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Only decisions older than this id: the next page."),
    ] = None
    since: Annotated[str | None, Meta(description="Not older than this. " + MOMENT)] = None
    until: Annotated[str | None, Meta(description="Older than this. " + MOMENT)] = None
    limit: Annotated[int, Meta(ge=1, le=1000, description="At most so many.")] = 100


def decision_query(wanted: DecisionFilter, now: Instant) -> DecisionQuery:
    """Turn a filter as people write it into a query."""
    since = instant("since", wanted.since, 0.0) if wanted.since else None
    until = instant("until", wanted.until, now) if wanted.until else None
    if since is not None and until is not None and since >= until:
        raise bad("since", wanted.since, f"must be before until ({wanted.until})")
    return DecisionQuery(
        subject=wanted.model or None,
        loop=wanted.loop or None,
        code=wanted.code,
        moved_only=wanted.moved,
        before_id=wanted.before,
        since=since,
        until=until,
        limit=wanted.limit,
    )


async def _decisions(call: Call) -> DecisionList:
    return await decision_list(call.state, decision_query(call.params, call.state.clock.now()))


async def _decision(call: Call) -> DecisionDetail:
    written = call.part("id")
    if not written.isdecimal() or len(written) > 18:
        raise bad("id", written, "must be a whole number")
    found = await decision_detail(call.state, int(written))
    if found is None:
        raise missing("decision", written)
    return found


ROUTES = (
    Route(
        method="GET",
        path="/decisions",
        summary="Decisions, newest first; `next_before` is the next page's `before`.",
        run=_decisions,
        answer=DecisionList,
        tag="decisions",
        params=DecisionFilter,
        table=lambda found: found.rows,
    ),
    Route(
        method="GET",
        path="/decisions/{id}",
        summary="One decision: its ladder, what was refused, what was done, decided again.",
        run=_decision,
        answer=DecisionDetail,
        tag="decisions",
    ),
)
