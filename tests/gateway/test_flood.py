"""A flood of batch work: the chat users notice nothing. Priority against one queue, in one run."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from controlplane.gateway.tally import quantile
from tests.gateway.engine import Engine
from tests.gateway.running import Front, Running, a_model, a_plan, ask, endpoint, running

SLOTS, FLOOD, CHATS = 4, 40, 40
WORK = "sleep=0.05"


async def under_flood(folder: Path, front: Front, **admission: Any) -> float:
    """Give the P99 wait of high while low arrives as fast as it is answered."""
    async with Engine() as engine:
        plan = a_plan(a_model(endpoint(engine, SLOTS), **admission))
        async with running(folder, plan, **front) as run:
            over = asyncio.Event()
            low = [asyncio.create_task(flood(run, over)) for _ in range(FLOOD)]
            await run.until(lambda: run.counted("queued")[2] >= FLOOD // 2)
            for _ in range(CHATS):
                assert (await ask(run.port, how=WORK)).status == 200
            over.set()
            await asyncio.gather(*low)
            await run.quiet()
            found = quantile(run.gateway.counts.sums()["chat"][0].wait.counts, 0.99)
            assert found is not None
            assert engine.most <= SLOTS
            return found


async def flood(run: Running, over: asyncio.Event) -> None:
    while not over.is_set():
        assert (await ask(run.port, how=WORK, key="key-low")).status == 200


@pytest.mark.slow
async def test_high_waits_for_one_slot_to_free_and_not_for_the_flood(
    tmp_path: Path, front: Front
) -> None:
    by_class = await under_flood(tmp_path / "priority", front)
    in_one_queue = await under_flood(tmp_path / "fifo", front, single_queue=True)

    assert in_one_queue > by_class  # how many times is measured by the benchmark
