"""Decisions as a ladder, decided again, and in pages."""

from dataclasses import replace
from math import inf

import msgspec
import pytest

from controlplane.domain.decisions import Choice, Target
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.http.reads.decisions import decision_detail, decision_list
from controlplane.http.state import State
from controlplane.ports import DecisionQuery, DecisionRow
from tests.builders import CHAT
from tests.http.conftest import T0, a_point


async def test_a_decision_is_a_ladder_that_is_decided_again(state: State) -> None:
    newest = (await decision_list(state, DecisionQuery())).rows[0]

    found = await decision_detail(state, newest.id)

    assert found is not None
    assert found.replay == "identical"
    assert found.rungs[0].before == newest.current
    assert found.rungs[-1].after == newest.target
    assert sum(rung.decisive for rung in found.rungs) == 1
    assert found.seen["model"] == CHAT


async def test_a_rule_that_changed_since_shows_as_a_difference(state: State) -> None:
    def otherwise(loop: str, seen: bytes) -> object:
        again = state.replay(loop, seen)
        return msgspec.structs.replace(again, target=99, trail=again.trail[:-1])  # type: ignore[type-var, attr-defined]  # a Choice

    found = await decision_detail(replace(state, replay=otherwise), 2)

    assert found is not None
    assert found.replay == "different"
    assert found.differences[0].field == "target"
    assert found.differences[0].now == "99"
    assert found.differences[-1].field == f"trail[{len(found.rungs) - 1}]"
    assert found.differences[-1].now == ""


async def test_an_input_nobody_understands_any_more_says_so(state: State) -> None:
    def unknown(loop: str, seen: bytes) -> object:
        raise ValueError(f"loop: {loop!r} has no replay; {len(seen)} bytes")

    found = await decision_detail(replace(state, replay=unknown), 1)

    assert found is not None
    assert found.replay == "impossible"
    assert "has no replay" in found.replay_note


async def test_the_time_until_it_served_is_read_from_the_last_hour(state: State) -> None:
    newest = (await decision_list(state, DecisionQuery())).rows[0]
    for index in range(4):
        state.history.add(CHAT, a_point(T0 + 5 * index, serving=2 + index * newest.target))

    found = await decision_detail(state, newest.id)

    assert found is not None
    assert found.served_after_s == pytest.approx(T0 + 5 - newest.at)


async def test_pages_of_decisions_follow_one_another(state: State) -> None:
    first = await decision_list(state, DecisionQuery(limit=1))
    rest = await decision_list(state, DecisionQuery(limit=1, before_id=first.next_before))
    end = await decision_list(state, DecisionQuery(limit=1, before_id=rest.next_before))

    assert [row.id for page in (first, rest, end) for row in page.rows] == [2, 1]


class Rows:
    """A journal of one row."""

    def __init__(self, row: DecisionRow) -> None:
        self._row = row

    async def decisions(self, query: DecisionQuery) -> list[DecisionRow]:
        del query
        return [self._row]

    async def decision(self, row: int) -> DecisionRow | None:
        return self._row if row == self._row.id else None


async def test_an_altered_input_shows_where_no_rule_would_mind(state: State) -> None:
    row = await state.decisions.decision(1)
    assert row is not None
    other = msgspec.structs.replace(row, seen=row.seen.replace(b'"at":', b'"at": '))

    found = await decision_detail(replace(state, decisions=Rows(other)), 1)

    assert found is not None
    assert found.replay == "different"
    assert [one.field for one in found.differences] == ["seen"]


async def test_evidence_without_end_is_the_same_after_it_was_stored(state: State) -> None:
    """JSON knows no infinity: it is stored as null, and decided again as infinity."""
    row = await state.decisions.decision(1)
    assert row is not None
    told = Evidence("drain", None, 30.0, "s")
    trail = Target(row.current).note(ReasonCode.DRAIN_TOO_SLOW, told).trail
    stored = msgspec.structs.replace(row, trail=trail, target=row.current, refused=(), actions=())

    def again(loop: str, seen: bytes) -> object:
        del loop, seen
        endless = Evidence("drain", inf, 30.0, "s")
        trail = Target(row.current).note(ReasonCode.DRAIN_TOO_SLOW, endless).trail
        return Choice(subject=CHAT, current=row.current, target=row.current, trail=trail)

    found = await decision_detail(replace(state, decisions=Rows(stored), replay=again), 1)

    assert found is not None
    assert found.replay == "identical"
