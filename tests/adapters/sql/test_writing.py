"""When the journal goes to the disk, and what happens when it cannot."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from controlplane.adapters.sql.address import FILE_NAME
from controlplane.adapters.sql.faults import StoreError
from controlplane.adapters.sql.journal import COUNT_EVERY_S
from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.store import Store
from controlplane.domain.decisions import DONE, Ending
from controlplane.domain.ledger import LineKind
from controlplane.ports import DecisionQuery, UnavailableError
from tests.stored import T0, a_hold, a_line, a_raise


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path, "cluster-1", create=True, wait_s=0.05) as opened:
        yield opened


class Watcher:
    """Sees from another connection how often the file was committed to."""

    def __init__(self, folder: Path) -> None:
        self.connection = sqlite3.connect(folder / FILE_NAME, isolation_level=None)

    def version(self) -> int:
        found: tuple[int] = self.connection.execute("PRAGMA data_version").fetchone()
        return found[0]

    def one(self, query: str) -> object:
        return self.connection.execute(query).fetchone()[0]


@pytest.fixture
def watcher(tmp_path: Path, store: Store) -> Watcher:
    del store  # the file must be there
    return Watcher(tmp_path)


def let_time_pass(store: Store) -> None:
    store.journal._counted_at -= COUNT_EVERY_S


async def test_a_thousand_models_that_hold_write_nothing(store: Store, watcher: Watcher) -> None:
    holds = [a_hold(f"model-{n}") for n in range(1_000)]
    await store.journal.open("scaling", holds, T0, 1)
    await store.journal.open("scaling", holds, T0 + 5.0, 1)
    before = watcher.version()

    for cycle in range(2, 5):
        await store.journal.open("scaling", holds, T0 + 5.0 * cycle, 1)

    assert watcher.version() == before
    (row,) = await store.decisions.decisions(DecisionQuery(subject="model-7"))
    assert row.repeats == 4  # what the file does not know is known to who reads


async def test_counts_reach_the_file_after_fifteen_seconds(store: Store, watcher: Watcher) -> None:
    for cycle in range(3):
        await store.journal.open("scaling", [a_hold()], T0 + 5.0 * cycle, 1)
    assert watcher.one("SELECT repeats FROM decisions") == 0

    let_time_pass(store)
    await store.journal.open("scaling", [a_hold()], T0 + 15.0, 1)

    assert watcher.one("SELECT repeats FROM decisions") == 3


async def test_a_thousand_new_decisions_are_one_transaction(store: Store, watcher: Watcher) -> None:
    await store.journal.open("scaling", [], T0, 1)  # the first call reads and counts
    before = watcher.version()

    await store.journal.open("scaling", [a_raise(f"model-{n}") for n in range(1_000)], T0, 1)

    assert watcher.version() == before + 1
    assert watcher.one("SELECT count(*) FROM decisions WHERE ending = 'open'") == 1_000


async def test_counts_of_a_row_that_was_followed_are_not_lost(store: Store) -> None:
    await store.journal.open("scaling", [a_hold()], T0, 1)
    await store.journal.open("scaling", [a_hold()], T0 + 5.0, 1)
    await store.journal.open("scaling", [a_raise()], T0 + 10.0, 1)
    await store.journal.flush()

    _, hold = await store.decisions.decisions(DecisionQuery())
    assert (hold.repeats, hold.last_at) == (1, T0 + 5.0)


async def test_endings_reach_the_file_with_the_next_rows(store: Store, watcher: Watcher) -> None:
    (number,) = await store.journal.open("scaling", [a_raise()], T0, 1)
    assert number is not None
    await store.journal.close(number, DONE, T0 + 1.0)
    assert watcher.one("SELECT ending FROM decisions") == Ending.OPEN

    await store.journal.open("scaling", [a_raise("sdxl")], T0 + 5.0, 1)

    assert watcher.one("SELECT ending FROM decisions WHERE subject = 'chat'") == Ending.DONE


async def test_endings_reach_the_file_by_themselves(store: Store, watcher: Watcher) -> None:
    (number,) = await store.journal.open("scaling", [a_raise()], T0, 1)
    assert number is not None
    await store.journal.close(number, DONE, T0 + 1.0)

    store.journal._write_late()  # what the timer calls after a second
    await asyncio.gather(*store.journal._begun)

    assert watcher.one("SELECT ending FROM decisions") == Ending.DONE


async def test_a_locked_database_costs_the_cycle_and_nothing_else(
    store: Store, watcher: Watcher
) -> None:
    """A loop meets `UnavailableError`, does nothing, and looks again."""
    watcher.connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnavailableError, match="is locked by another program"):
        await store.journal.open("scaling", [a_raise()], T0, 1)
    with pytest.raises(StoreError):
        await store.ledger.write([a_line()])
    watcher.connection.execute("ROLLBACK")

    (number,) = await store.journal.open("scaling", [a_raise()], T0 + 5.0, 1)

    assert number is not None
    (row,) = await store.journal.unsettled("scaling")
    assert (row.id, row.repeats, row.at) == (number, 0, T0 + 5.0)


async def test_endings_that_could_not_be_written_are_written_later(
    store: Store, watcher: Watcher
) -> None:
    (number,) = await store.journal.open("scaling", [a_raise()], T0, 1)
    assert number is not None
    watcher.connection.execute("BEGIN IMMEDIATE")
    await store.journal.close(number, DONE, T0 + 1.0)
    store.journal._write_late()
    await asyncio.gather(*store.journal._begun)
    watcher.connection.execute("ROLLBACK")

    assert await store.journal.unsettled("scaling") == []


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8, 13, 21])
async def test_a_cancelled_cycle_leaves_memory_and_file_in_step(
    store: Store, watcher: Watcher, steps: int
) -> None:
    """Law 4: cut after any step; what was written is found again, not written twice."""
    cycle = asyncio.create_task(store.journal.open("scaling", [a_raise()], T0, 1))
    for _ in range(steps):
        await asyncio.sleep(0)
    cycle.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cycle

    (number,) = await store.journal.open("scaling", [a_raise()], T0 + 5.0, 1)

    assert number is not None
    assert watcher.one("SELECT count(*) FROM decisions") == 1
    assert [row.id for row in await store.journal.unsettled("scaling")] == [number]


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8, 13, 21, 34])
async def test_who_is_cancelled_leaves_the_store_usable(store: Store, steps: int) -> None:
    """A visitor closes the page, a cycle runs out of time: the next one finds all as it should."""
    for work in (
        store.ledger.write([a_line(T0 + n) for n in range(300)]),
        store.memory.save("scaling", b"{}"),
        store.decisions.decisions(DecisionQuery()),
    ):
        task = asyncio.ensure_future(work)
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async with asyncio.timeout(5.0):
        await store.ledger.write([a_line(T0 + n) for n in range(300)])
        await store.memory.save("scaling", b"{}")

        assert len(await store.ledger.rows(T0, T0 + 300.0)) == 300
        assert await store.memory.load("scaling") == b"{}"
        assert await store.decisions.decisions(DecisionQuery()) == []


async def test_loops_write_side_by_side(store: Store) -> None:
    """Five loops and a ledger, each its own rows, none waits for another for ever."""

    async def run(loop: str) -> None:
        for cycle in range(10):
            choices = [a_raise(f"model-{n}", target=5 + cycle) for n in range(20)]
            for number in await store.journal.open(loop, choices, T0 + 5.0 * cycle, 1):
                assert number is not None
                await store.journal.close(number, DONE, T0 + 5.0 * cycle)
            await store.memory.save(loop, f'{{"cycle":{cycle}}}'.encode())
            await store.ledger.write([a_line(T0 + cycle, LineKind.IDLE, loop)])

    async with asyncio.TaskGroup() as group:
        for loop in ("scaling", "spare", "placement", "costs", "catalogue"):
            group.create_task(run(loop))

    await store.journal.flush()
    rows = await store.decisions.decisions(DecisionQuery(limit=2_000))
    assert len(rows) == 5 * 10 * 20
    assert {row.ending for row in rows} == {Ending.DONE}
    assert len({row.id for row in rows}) == len(rows)


async def test_the_file_is_readable_with_any_client(store: Store, tmp_path: Path) -> None:
    """`json_each` over trails answers how often a rule spoke."""
    await store.journal.open("scaling", [a_raise(), a_hold("sdxl")], T0, 1)

    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        spoke = connection.execute(
            "SELECT json_extract(rule.value, '$.code'), count(*) "
            "FROM decisions, json_each(trail) AS rule GROUP BY 1 ORDER BY 1"
        ).fetchall()
        at = connection.execute("SELECT DISTINCT at FROM decisions").fetchall()

    assert spoke == [("DrainTooSlow", 1), ("DrainWithin", 1)]
    assert at == [("2027-01-15 08:00:00.000000",)]
