"""The store under a thousand models: time, pauses of the event loop, and bytes per row.

    .venv/bin/python -m tests.benchmarks store

A real SQLite file in a temporary folder. CPU is of the whole process, SQLite's thread included, so
other work on the machine does not show; the longest pause is the event loop's and does show it.
"""

import asyncio
import gc
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.store import Store
from controlplane.decide.scaling.decision import decide_scale
from controlplane.domain.decisions import DONE, Choice
from controlplane.domain.quantities import ModelName, NodeName
from controlplane.loops.in_memory import MemoryJournal
from tests.builders import a_class_load, a_load, an_input
from tests.stored import T0, a_line

MODELS = 1_000
HELD_CYCLES = 20


def choices(arrivals: float, target: int) -> list[Choice]:
    """One real decision for every model: the same load, so the same trail."""
    seen = an_input(a_load(high=a_class_load(arrivals)), target=target)
    choice = decide_scale(seen)
    names = [ModelName(f"model-{n:04}") for n in range(MODELS)]
    return [
        msgspec.structs.replace(
            choice, subject=name, seen=msgspec.structs.replace(seen, model=name)
        )
        for name in names
    ]


class Pauses:
    """The longest time the event loop did not turn."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def watch(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self.longest, last = max(self.longest, now - last), now


async def timed(label: str, times: int, work: Callable[[], Awaitable[object]]) -> None:
    gc.collect()
    gc.freeze()  # the collector would walk this benchmark's thousands of choices, and be measured
    pauses = Pauses()
    watching = asyncio.create_task(pauses.watch())
    await asyncio.sleep(0.01)
    pauses.longest = 0.0
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(times):
        await work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    watching.cancel()
    print(
        f"{label:<44} {cpu / times * 1e3:8.1f} ms CPU {wall / times * 1e3:8.1f} ms wall"
        f"   longest pause {pauses.longest * 1e3:5.1f} ms"
    )


async def journal(store: Store) -> None:
    rises = [choices(480.0 + 160.0 * n, 4) for n in range(2)]
    cycle = 0

    async def all_new() -> None:
        nonlocal cycle
        rows = await store.journal.open("scaling", rises[cycle % 2], T0 + 5.0 * cycle, 1)
        for row in rows:
            if row is not None:
                await store.journal.close(row, DONE, T0)
        cycle += 1

    await timed(f"open, {MODELS} choices that all moved", 6, all_new)
    held = choices(100.0, 4)
    await store.journal.open("scaling", held, T0 + 100.0, 1)
    await store.journal.flush()

    async def hold() -> None:
        await store.journal.open("scaling", held, T0 + 105.0, 1)

    await timed(f"open, {MODELS} choices that all hold", HELD_CYCLES, hold)
    await timed(f"flush, {MODELS} counts of holds", 1, store.journal.flush)
    memory = MemoryJournal()
    await memory.open("scaling", held, T0, 1)
    await timed(
        "the same holds, journal in memory",
        HELD_CYCLES,
        lambda: memory.open("scaling", held, T0 + 5.0, 1),
    )


async def sizes(folder: Path) -> None:
    """Bytes a row, indexes included: what the file grows by."""

    async def size(store: Store) -> int:
        async with store.database.writing() as connection:
            await connection.exec_driver_sql("SELECT 1")
        async with store.database.reading() as connection:
            pages = await connection.exec_driver_sql("PRAGMA page_count")
            page = await connection.exec_driver_sql("PRAGMA page_size")
            return int(pages.scalar_one()) * int(page.scalar_one())

    async with open_store(folder / "sizes", "embedded-1", create=True) as store:
        before = await size(store)
        for cycle in range(6):
            moved = choices(480.0 + 160.0 * (cycle % 2), 4)
            await store.journal.open("scaling", moved, T0 + 5.0 * cycle, 1)
        after = await size(store)
        print(f"decision of scaling: {(after - before) / 6 / MODELS:.0f} bytes a row")
        for minute in range(60):
            rows = [
                msgspec.structs.replace(
                    a_line(T0 + 60.0 * minute, device=n % 8), node=NodeName(f"a100-{n // 8:02}")
                )
                for n in range(100)
            ]
            await store.ledger.write(rows)
        print(f"ledger: {(await size(store) - after) / 6_000:.0f} bytes a row")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(folder, "embedded-1", create=True) as store:
            await journal(store)
            lines = [a_line(T0, device=n) for n in range(2_000)]
            await timed("ledger, 2000 rows", 1, lambda: store.ledger.write(lines))
            await timed("ledger, the same rows again", 1, lambda: store.ledger.write(lines))
        await sizes(Path(folder))


if __name__ == "__main__":
    asyncio.run(main())
