"""Two daemons over one database: who does not lead writes nothing, and reads anew when it does."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from controlplane.adapters.sql.faults import StoreError
from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.store import Store
from controlplane.domain.decisions import Ending, Outcome
from controlplane.ports import DecisionQuery
from tests.stored import T0, a_hold, a_raise


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    async with (
        open_store(tmp_path, "cluster-1", create=True) as first,
        open_store(tmp_path, "cluster-1") as second,
    ):
        yield first, second


async def test_t4_what_was_late_when_the_lead_was_lost_is_not_written(
    two: tuple[Store, Store],
) -> None:
    old, new = two
    held, raised = await old.journal.open("scaling", [a_hold("sdxl"), a_raise()], T0, 1)
    await old.journal.open("scaling", [a_hold("sdxl")], T0 + 5.0, 1)  # a count
    assert held is not None
    assert raised is not None
    await old.journal.close(raised, Outcome(Ending.DONE, "late"), T0 + 5.0)

    old.journal.may_write = lambda: False
    await new.journal.close(raised, Outcome(Ending.SETTLED), T0 + 20.0)
    await new.journal.flush()
    await old.journal.flush()

    rows = {row.id: row for row in await new.decisions.decisions(DecisionQuery())}
    assert rows[raised].ending is Ending.SETTLED
    assert rows[held].repeats == 0


async def test_who_does_not_lead_cannot_open_a_row(two: tuple[Store, Store]) -> None:
    old, new = two
    old.journal.may_write = lambda: False

    with pytest.raises(StoreError, match="does not lead"):
        await old.journal.open("scaling", [a_raise()], T0, 1)

    assert await new.decisions.decisions(DecisionQuery()) == []


async def test_who_leads_again_compares_with_what_the_other_wrote(
    two: tuple[Store, Store],
) -> None:
    first, second = two
    await first.journal.open("scaling", [a_hold("sdxl", 4)], T0, 1)
    await second.journal.open("scaling", [a_raise("sdxl", 4, 5)], T0 + 5.0, 1)

    await first.journal.unsettled("scaling")  # as at the begin of every reign
    (again,) = await first.journal.open("scaling", [a_raise("sdxl", 4, 5)], T0 + 10.0, 1)
    rows = await first.decisions.decisions(DecisionQuery())

    assert len(rows) == 2
    assert again == rows[0].id


async def test_a_memory_that_another_saved_in_between_is_replaced(
    two: tuple[Store, Store],
) -> None:
    first, second = two
    await first.memory.save("scaling", b"1")
    await second.memory.save("scaling", b"2")

    assert await first.memory.load("scaling") == b"2"
    await first.memory.save("scaling", b"1")

    assert await second.memory.load("scaling") == b"1"
