"""Engines with more than they can take are named, on engines that really queue."""

import asyncio
from collections.abc import Callable

from controlplane.domain.quantities import ReplicaName
from tests.adapters.engines.watching import an_engine, load_when, watched
from tests.emulation.stand import emulated

ONE = frozenset({ReplicaName("chat-1")})
NONE: frozenset[ReplicaName] = frozenset()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10.0):
        while not holds():  # noqa: ASYNC110  # engines are asked by others
            await asyncio.sleep(0.01)


async def test_an_engine_that_queues_by_itself_is_full_until_its_queue_is_gone() -> None:
    async with (
        emulated(slots=2, service_s=1.5) as busy,
        emulated(slots=2) as idle,
        watched([an_engine(busy, 1), an_engine(idle, 2)]) as fleet,
    ):
        await load_when(fleet, lambda _, c: c.queue.x is not None)
        assert fleet.full == NONE
        asked = busy.begin(4)
        await until(lambda: fleet.full == ONE)
        await asyncio.gather(*asked)
        await until(lambda: fleet.full == NONE)


async def test_an_engine_whose_cache_is_full_is_full_though_nobody_queues() -> None:
    async with (
        emulated(slots=4, service_s=1.0, kv_tokens=10) as stand,
        watched([an_engine(stand)]) as fleet,
    ):
        await load_when(fleet, lambda _, c: c.queue.x is not None)
        asked = asyncio.create_task(stand.complete(prompt="word " * 9, max_tokens=40))
        await until(lambda: fleet.full == ONE)
        await asked
        await until(lambda: fleet.full == NONE)


async def test_an_engine_that_says_nothing_any_more_is_not_held_to_be_full() -> None:
    async with watched([]) as fleet:
        async with emulated(slots=1, service_s=30.0) as stand:
            fleet.follow([an_engine(stand)])
            asked = stand.begin(3)
            await until(lambda: fleet.full == ONE)
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        await until(lambda: fleet.full == NONE)
