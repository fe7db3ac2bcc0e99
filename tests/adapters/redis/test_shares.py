"""Slots shared out by a real Valkey."""

import asyncio
import random
from collections.abc import AsyncIterator
from time import perf_counter

import pytest

from controlplane.adapters.redis.shares import RedisShares, key
from controlplane.domain.quantities import ModelName
from controlplane.ports import UnavailableError
from controlplane.ports.shares import Wish
from tests.adapters.redis.server import Valkey

CHAT = ModelName("chat")
NOBODY = (0, 0, 0)


@pytest.fixture
async def valkey() -> AsyncIterator[Valkey]:
    async with Valkey() as server:
        yield server


async def granted(
    shares: RedisShares,
    slots: int,
    running: tuple[int, int, int] = NOBODY,
    waiting: tuple[int, int, int] = NOBODY,
) -> int:
    return (await shares.ask({CHAT: Wish(slots, running, waiting)}))[CHAT].slots


async def test_one_gateway_has_all_slots_two_share_them_evenly(valkey: Valkey) -> None:
    one, two = RedisShares(valkey.url, "one"), RedisShares(valkey.url, "two")

    assert await granted(one, 9) == 9
    assert await granted(two, 9) == 0  # the other holds all of them still
    assert await granted(one, 9) == 5
    assert await granted(two, 9) == 4
    await one.leave()
    assert await granted(two, 9) == 9
    await two.leave()


async def test_high_goes_before_low_wherever_it_waits(valkey: Valkey) -> None:
    one, two = RedisShares(valkey.url, "one"), RedisShares(valkey.url, "two")
    assert await granted(one, 4, (0, 0, 4)) == 4

    assert await granted(two, 4, NOBODY, (3, 0, 0)) == 0
    assert await granted(one, 4, (0, 0, 4), (0, 0, 9)) == 1  # what ends is not replaced
    assert await granted(one, 4, (0, 0, 2), (0, 0, 9)) == 1
    assert await granted(two, 4, NOBODY, (3, 0, 0)) == 2
    await one.leave()
    await two.leave()


async def test_a_lease_ends_by_itself(valkey: Valkey) -> None:
    one, two = RedisShares(valkey.url, "one", lease_s=0.1), RedisShares(valkey.url, "two")
    assert await granted(one, 4, (4, 0, 0)) == 4
    assert await granted(two, 4, NOBODY, (4, 0, 0)) == 0
    await asyncio.sleep(0.15)

    assert await granted(two, 4, NOBODY, (4, 0, 0)) == 4
    await one.leave()
    await two.leave()


async def test_never_more_than_there_are_whoever_asks_when(valkey: Valkey) -> None:
    """Each gateway runs at most what it was granted, as its admission sees to."""
    chance = random.Random(3)
    names = ["a", "b", "c"]
    shares = {name: RedisShares(valkey.url, name) for name in names}
    grants = dict.fromkeys(names, 0)
    running = {name: [0, 0, 0] for name in names}
    for _ in range(600):
        name = chance.choice(names)
        mine = running[name]
        for rank in range(3):  # some end
            mine[rank] -= chance.randint(0, mine[rank])
        while sum(mine) < grants[name] and chance.random() < 0.8:  # some begin
            mine[chance.randint(0, 2)] += 1
        waiting = (chance.randint(0, 3), chance.randint(0, 3), chance.randint(0, 3))
        running_now = (mine[0], mine[1], mine[2])
        grants[name] = await granted(shares[name], 10, running_now, waiting)
        held = sum(max(grants[n], sum(running[n])) for n in names)
        assert held <= 10
    for one in shares.values():
        await one.leave()


async def test_a_server_that_cannot_be_reached_says_so_quickly(valkey: Valkey) -> None:
    shares = RedisShares(valkey.url, "one")
    assert await granted(shares, 4) == 4
    await valkey.kill()

    began = perf_counter()
    with pytest.raises(UnavailableError, match="redis: "):
        await granted(shares, 4)
    assert perf_counter() - began < 5.0

    await valkey.start()  # empty, and without our functions
    assert await granted(shares, 4) == 4
    await shares.leave()


def test_all_that_concerns_a_model_lies_in_one_place_of_a_cluster() -> None:
    assert key(CHAT) == "controlplane:{chat}:slots"
