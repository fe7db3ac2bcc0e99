"""Decisions as people read them: the list, and one of them as a ladder that is decided again."""

from collections.abc import Iterator

import msgspec

from controlplane.domain.decisions import Choice
from controlplane.domain.differences import Difference, altered, differences
from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import Reason
from controlplane.domain.replicas import Lane
from controlplane.http.reads.lines import decision_line, decisive_reason
from controlplane.http.reads.shapes.decisions import (
    DecisionDetail,
    DecisionList,
    Effect,
    Rung,
    Verdict,
)
from controlplane.http.state import State
from controlplane.ports import DecisionQuery, DecisionRow


async def decision_list(state: State, query: DecisionQuery) -> DecisionList:
    """List decisions, newest first, and where the next page begins."""
    rows = await state.decisions.decisions(query)
    full = len(rows) == query.limit
    return DecisionList(
        rows=tuple(decision_line(row) for row in rows),
        next_before=rows[-1].id if rows and full else None,
    )


async def decision_detail(state: State, row_id: int) -> DecisionDetail | None:
    """Give one decision, whole, and what today's code would decide on the same input."""
    row = await state.decisions.decision(row_id)
    if row is None:
        return None
    verdict, found, note = _replay(state, row)
    return DecisionDetail(
        line=decision_line(row),
        rungs=tuple(_rungs(row)),
        refused=row.refused,
        actions=tuple(msgspec.to_builtins(action) for action in row.actions),
        settled_at=row.settled_at,
        served_after_s=_served_after(state, row),
        replay=verdict,
        differences=found,
        replay_note=note,
        seen=_seen(row),
        catalogue_version=row.catalogue_version,
        world=row.world,
    )


def _rungs(row: DecisionRow) -> Iterator[Rung]:
    deciding = decisive_reason(row)
    for reason in row.trail:
        yield Rung(
            code=reason.code,
            before=reason.before,
            after=reason.after,
            effect=_effect(reason),
            decisive=reason is deciding,
            evidence=reason.evidence,
        )


def _effect(reason: Reason) -> Effect:
    if not reason.moved:
        return "spoke"
    return "raised" if reason.after > reason.before else "lowered"


def _seen(row: DecisionRow) -> object:
    try:
        return msgspec.json.decode(row.seen)
    except msgspec.DecodeError:
        return None


def _served_after(state: State, row: DecisionRow) -> float | None:
    """Say how long it took until a raised target was in service, while the last hour tells."""
    if row.target <= row.current:
        return None
    for point in state.history.points(ModelName(row.subject), row.at):
        if point.lanes.get(Lane.SERVING, 0) >= row.target:
            return point.at - row.at
    return None


def _replay(state: State, row: DecisionRow) -> tuple[Verdict, tuple[Difference, ...], str]:
    """Decide again on the stored input. A rule that raises says as much as one that differs."""
    try:
        again = state.replay(row.loop, row.seen)
    except (msgspec.DecodeError, LookupError, ValueError, TypeError, ArithmeticError) as fault:
        return "impossible", (), f"{type(fault).__name__}: {fault}"
    if not isinstance(again, Choice):
        return "impossible", (), f"loop {row.loop!r} is not decided again"
    stored = Choice(
        subject=row.subject,
        current=row.current,
        target=row.target,
        trail=row.trail,
        refused=row.refused,
        actions=row.actions,
    )
    found = (*altered(row.seen, row.digest), *differences(stored, again))
    return ("different" if found else "identical"), found, ""
