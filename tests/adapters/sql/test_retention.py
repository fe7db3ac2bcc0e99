"""What is kept for how long."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import select

from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.retention import DAY_S, Pruned
from controlplane.adapters.sql.store import Store
from controlplane.adapters.sql.tables import NOTHING_DONE, decisions
from controlplane.adapters.sql.worlds import enter
from controlplane.domain.decisions import Ending
from controlplane.ports import AuditEntry, DecisionQuery
from tests.stored import T0, a_hold, a_line, a_raise, a_target

NOTHING = Pruned(decisions=0, ledger=0, audit=0, worlds=0)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path, "cluster-1", create=True) as opened:
        yield opened


async def kept(store: Store) -> list[tuple[str, int]]:
    rows = await store.decisions.decisions(DecisionQuery())
    return [(row.subject, row.target) for row in rows]


async def test_a_fresh_store_loses_nothing(store: Store) -> None:
    await store.journal.open("scaling", [a_raise(), a_hold("sdxl")], T0, 1)
    await store.ledger.write([a_line()])

    assert await store.prune(T0 + 13 * DAY_S) == NOTHING


async def test_decisions_are_kept_for_90_days_and_the_newest_of_each_subject_for_ever(
    store: Store,
) -> None:
    for n in range(3):
        await store.journal.open("scaling", [a_raise(target=5 + n)], T0 + n, 1)
    await store.journal.open("scaling", [a_hold("sdxl")], T0, 1)
    await store.journal.open("spare", [a_raise(target=9)], T0, 1)

    pruned = await store.prune(T0 + 91 * DAY_S)

    assert pruned.decisions == 2
    assert await kept(store) == [("chat", 9), ("sdxl", 4), ("chat", 7)]


async def test_holds_are_kept_for_two_weeks_and_the_newest_for_ever(store: Store) -> None:
    """What was held and never done is most of the rows and the least of the story."""
    held = msgspec.structs.replace(a_hold(), actions=(a_target(replicas=4),))
    for n, choice in enumerate((a_hold(), a_raise(), a_hold(at=5), held, a_hold(at=6))):
        await store.journal.open("scaling", [choice], T0 + n, 1)

    pruned = await store.prune(T0 + 15 * DAY_S)

    assert pruned.decisions == 2
    assert await kept(store) == [("chat", 6), ("chat", 4), ("chat", 5)]


async def test_old_holds_are_found_by_their_index(store: Store) -> None:
    query = select(decisions.c.id).where(decisions.c.at < T0, NOTHING_DONE)
    async with store.database.reading() as connection:
        words = str(
            query.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
        )
        plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {words}")).all()

    assert "ix_decisions_holds" in plan[0].detail


async def test_a_number_is_never_given_twice(store: Store) -> None:
    (first,) = await store.journal.open("scaling", [a_raise()], T0, 1)
    async with store.database.writing() as connection:
        await connection.exec_driver_sql("DELETE FROM decisions")

    (second,) = await store.journal.open("scaling", [a_raise(target=6)], T0, 1)

    assert first is not None
    assert second is not None
    assert second > first


async def test_bills_are_kept_for_thirteen_months(store: Store) -> None:
    days = [a_line(T0 + day * DAY_S) for day in range(6)]
    await store.ledger.write(days)

    pruned = await store.prune(T0 + (396 + 3.5) * DAY_S)

    assert pruned.ledger == 4
    assert await store.ledger.rows(0.0, float("inf")) == days[4:]
    assert await store.ledger.billed_until() == days[-1].end


async def test_the_audit_log_is_kept_for_a_year(store: Store) -> None:
    for day in (0, 10):
        await store.audit.record(
            AuditEntry(
                at=T0 + day * DAY_S, who="ada", what=f"day {day}", subject="*", detail="", ending=""
            )
        )

    far = T0 + 9_000 * DAY_S  # a fast world's time is no reason to forget what people did
    assert (await store.prune(far, T0 + 300 * DAY_S)).audit == 0
    assert (await store.prune(T0, T0 + 370 * DAY_S)).audit == 1
    assert [entry.what for entry in await store.audit.entries()] == ["day 10"]


async def test_many_rows_go_in_parts(store: Store) -> None:
    for n in range(5):
        raises = [a_raise(f"model-{m}", target=5 + n) for m in range(1_000)]
        await store.journal.open("scaling", raises, T0 + n, 1)

    assert (await store.prune(T0 + 91 * DAY_S)).decisions == 4_000


async def test_a_world_nobody_opened_for_90_days_goes_but_its_bills_stay(store: Store) -> None:
    """Every start of an embedded world leaves one; the one that lives stays, however old."""
    path = Path(store.database.shown)
    await store.memory.save("scaling", b'{"mine":1}')
    async with open_store(path.parent, "embedded-1") as other:
        await other.journal.open("scaling", [a_raise("sdxl")], T0, 1)
        await other.memory.save("scaling", b"{}")
        await other.ledger.write([a_line()])
    async with open_store(path.parent, "embedded-2") as other:
        await other.journal.open("scaling", [a_raise("sdxl")], T0, 1)
    for world in ("cluster-1", "embedded-1", "embedded-2"):
        await enter(store.database, world, T0)

    pruned = await store.prune(T0 + 91 * DAY_S, T0 + 91 * DAY_S)

    assert (pruned.decisions, pruned.worlds) == (2, 1)
    async with open_store(path.parent, "embedded-1") as other:
        assert await other.memory.load("scaling") is None
        assert await other.ledger.rows(0.0, float("inf")) == [a_line()]
    assert await store.memory.load("scaling") == b'{"mine":1}'


async def test_a_world_whose_time_ran_ahead_does_not_hide_the_one_opened_after_it(
    store: Store,
) -> None:
    """Commands look at the world opened last, and people open worlds by their own clock."""
    folder = Path(store.database.shown).parent
    async with open_store(folder, "embedded-1") as fast:
        await fast.prune(T0 + 1_000 * DAY_S)
    async with open_store(folder, "embedded-2"):
        pass

    async with open_store(folder) as seen:
        assert seen.world.name == "embedded-2"


async def test_what_a_world_left_open_that_ended_with_its_process_is_settled(
    store: Store,
) -> None:
    folder = Path(store.database.shown).parent
    numbers = []
    for world in ("embedded-1", "embedded-2", "cluster-2"):
        async with open_store(folder, world) as opened:
            (number,) = await opened.journal.open("scaling", [a_raise()], T0, 1)
            numbers.append(number or 0)
    async with open_store(folder, "embedded-3") as here:
        (mine,) = await here.journal.open("scaling", [a_raise()], T0, 1)

        await here.bury("embedded-")

        found = [await here.decisions.decision(number) for number in (*numbers, mine or 0)]
    assert [row.ending for row in found if row] == [
        Ending.SETTLED,
        Ending.SETTLED,
        Ending.OPEN,  # a real cluster's world goes on without us
        Ending.OPEN,
    ]
