"""Everything survives a restart, also a sudden one (laws 3 and 11)."""

import asyncio
import signal
import sys
from pathlib import Path

from controlplane.adapters.sql.opening import open_store
from controlplane.domain.decisions import DONE, Ending, Outcome
from controlplane.domain.overrides import Override
from controlplane.http.auth import secret_hash
from controlplane.ports import DecisionQuery, Token
from tests.stored import T0, a_hold, a_line, a_raise

PAUSE = Override(subject="chat", paused=True, by="ada", at=T0)

KILLED_AFTER_OPEN = """
import asyncio, os, signal, sys
from controlplane.adapters.sql.opening import open_store
from tests.stored import T0, a_raise

async def main():
    async with open_store(sys.argv[1], "cluster-1", create=True) as store:
        await store.memory.save("scaling", b'{"cooling":true}')
        await store.journal.open("scaling", [a_raise()], T0, 1)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_a_row_written_before_a_crash_is_found_open(tmp_path: Path) -> None:
    """Law 3: the process is killed the moment `open` returns."""
    died = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED_AFTER_OPEN, str(tmp_path)
    )
    assert await died.wait() == -signal.SIGKILL

    async with open_store(tmp_path, "cluster-1") as store:
        (row,) = await store.journal.unsettled("scaling")
        assert (row.subject, row.target, row.ending) == ("chat", 5, Ending.OPEN)
        assert await store.memory.load("scaling") == b'{"cooling":true}'

        await store.journal.close(row.id, Outcome(Ending.SETTLED, "looked"), T0 + 60.0)

    async with open_store(tmp_path, "cluster-1") as store:
        assert await store.journal.unsettled("scaling") == []


async def test_what_is_late_is_written_when_the_store_closes(tmp_path: Path) -> None:
    async with open_store(tmp_path, "cluster-1", create=True) as store:
        (number,) = await store.journal.open("scaling", [a_raise()], T0, 1)
        assert number is not None
        await store.journal.close(number, DONE, T0 + 1.0)
        for cycle in range(3):
            await store.journal.open("scaling", [a_hold("sdxl")], T0 + 5.0 * cycle, 1)

    async with open_store(tmp_path, "cluster-1") as store:
        hold, raised = await store.decisions.decisions(DecisionQuery())
        assert (raised.ending, raised.settled_at) == (Ending.DONE, T0 + 1.0)
        assert (hold.repeats, hold.last_at) == (2, T0 + 10.0)


async def test_a_hold_goes_on_being_counted_after_a_restart(tmp_path: Path) -> None:
    for start in range(3):
        async with open_store(tmp_path, "cluster-1", create=True) as store:
            for cycle in range(2):
                at = T0 + 60.0 * start + 5.0 * cycle
                await store.journal.open("scaling", [a_hold()], at, 1)

    async with open_store(tmp_path, "cluster-1") as store:
        (row,) = await store.decisions.decisions(DecisionQuery())
        assert (row.repeats, row.at, row.last_at) == (5, T0, T0 + 125.0)


async def test_what_people_set_belongs_to_the_store_and_the_rest_to_its_world(
    tmp_path: Path,
) -> None:
    """Law 11: an embedded world starts new with each process; pauses and tokens stay."""
    token = Token(name="ci", role="viewer", created_at=T0)
    async with open_store(tmp_path, "embedded-1", create=True) as store:
        await store.overrides.put(PAUSE)
        await store.tokens.add(token, secret_hash("one"))
        version = await store.catalogues.add("a: 1", "fleet.yaml", "file", T0)
        await store.memory.save("scaling", b"{}")
        await store.ledger.write([a_line()])
        await store.journal.open("scaling", [a_raise()], T0, 1)

    async with open_store(tmp_path, "embedded-2") as store:
        assert await store.overrides.overrides() == {"chat": PAUSE}
        assert await store.tokens.find(secret_hash("one")) == token
        assert await store.catalogues.versions() == [version]
        assert [entry.what for entry in await store.audit.entries()] == ["pause"]
        assert await store.memory.load("scaling") is None
        assert await store.ledger.billed_until() is None
        assert await store.ledger.rows(0.0, float("inf")) == []
        assert await store.journal.unsettled("scaling") == []
        assert await store.decisions.decisions(DecisionQuery()) == []


async def test_two_worlds_bill_the_same_device_without_meeting(tmp_path: Path) -> None:
    for world in ("cluster-1", "cluster-2"):
        async with open_store(tmp_path, world, create=True) as store:
            await store.ledger.write([a_line()])

    for world in ("cluster-1", "cluster-2"):
        async with open_store(tmp_path, world) as store:
            assert await store.ledger.rows(T0, T0 + 60.0) == [a_line()]


async def test_who_looks_from_outside_sees_the_world_opened_last(tmp_path: Path) -> None:
    async with open_store(tmp_path, "embedded-1", create=True) as store:
        (first,) = await store.journal.open("scaling", [a_raise()], T0, 1)
    async with open_store(tmp_path, "embedded-2") as store:
        await store.journal.open("scaling", [a_hold("sdxl")], T0, 1)

    async with open_store(tmp_path) as store:
        assert store.world.name == "embedded-2"
        assert [row.subject for row in await store.decisions.decisions(DecisionQuery())] == ["sdxl"]
        assert first is not None
        row = await store.decisions.decision(first)  # a number is good for ever
        assert row is not None
        assert (row.subject, row.world) == ("chat", "embedded-1")


async def test_a_store_that_saw_no_world_is_empty_and_takes_what_people_set(tmp_path: Path) -> None:
    async with open_store(tmp_path, create=True) as store:
        assert store.world.name == ""
        assert await store.decisions.decisions(DecisionQuery()) == []
        await store.overrides.put(PAUSE)

    async with open_store(tmp_path, "embedded-1") as store:
        assert await store.overrides.overrides() == {"chat": PAUSE}
