"""Slots shared out by a real Valkey."""

import asyncio
import random
from collections.abc import AsyncIterator
from time import perf_counter

import pytest

from controlplane.adapters.redis.shares import LEASE_S, RedisShares, key
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


class Asking:
    """A gateway that fills at most what it was granted last."""

    def __init__(self, valkey: Valkey, name: str, lease_s: float = LEASE_S) -> None:
        self.shares = RedisShares(valkey.url, name, lease_s)
        self.held = 0

    async def hears(
        self,
        slots: int,
        running: tuple[int, int, int] = NOBODY,
        waiting: tuple[int, int, int] = NOBODY,
    ) -> int:
        """Give what the server says, which is not in force yet."""
        wish = Wish(slots, self.held, running, waiting)
        return (await self.shares.ask({CHAT: wish}))[CHAT].slots

    async def asks(
        self,
        slots: int,
        running: tuple[int, int, int] = NOBODY,
        waiting: tuple[int, int, int] = NOBODY,
    ) -> int:
        self.held = await self.hears(slots, running, waiting)
        return self.held


async def test_one_gateway_has_all_slots_two_share_them_evenly(valkey: Valkey) -> None:
    one, two = Asking(valkey, "one"), Asking(valkey, "two")

    assert await one.asks(9) == 9
    assert await two.asks(9) == 0  # the other holds all of them still
    assert await one.asks(9) == 5
    assert await two.asks(9) == 0  # the other may not have heard it yet
    assert await one.asks(9) == 5
    assert await two.asks(9) == 4
    await one.shares.leave()
    assert await two.asks(9) == 9
    await two.shares.leave()


async def test_a_server_that_began_anew_grants_no_more_than_was_held_until_all_have_spoken(
    valkey: Valkey,
) -> None:
    one, two = Asking(valkey, "one"), Asking(valkey, "two")
    one.held = two.held = 2  # even parts, while there was no server
    runs, waits = (2, 0, 0), (9, 0, 0)

    careful = Wish(4, one.held, runs, waits, most=one.held)
    assert (await one.shares.ask({CHAT: careful}))[CHAT].slots == 2
    assert (await two.shares.ask({CHAT: careful}))[CHAT].slots == 2
    assert await one.asks(4, runs, waits) == 2
    await two.shares.leave()
    assert await one.asks(4, runs, waits) == 4
    await one.shares.leave()


async def test_high_goes_before_low_wherever_it_waits(valkey: Valkey) -> None:
    one, two = Asking(valkey, "one"), Asking(valkey, "two")
    assert await one.asks(4, (0, 0, 4)) == 4

    assert await two.asks(4, NOBODY, (3, 0, 0)) == 0
    assert await one.asks(4, (0, 0, 4), (0, 0, 9)) == 1  # what ends is not replaced
    assert await one.asks(4, (0, 0, 2), (0, 0, 9)) == 1
    assert await two.asks(4, NOBODY, (3, 0, 0)) == 2
    await one.shares.leave()
    await two.shares.leave()


async def test_a_lease_ends_by_itself(valkey: Valkey) -> None:
    one, two = Asking(valkey, "one", lease_s=0.5), Asking(valkey, "two")
    assert await one.asks(4, (4, 0, 0)) == 4
    assert await two.asks(4, NOBODY, (4, 0, 0)) == 0
    await asyncio.sleep(0.6)

    assert await two.asks(4, NOBODY, (4, 0, 0)) == 4
    await one.shares.leave()
    await two.shares.leave()


async def test_never_more_than_there_are_whoever_asks_when_and_however_late_it_is_heard(
    valkey: Valkey,
) -> None:
    """Each gateway runs at most what is in force there, and answers take a while to arrive."""
    chance = random.Random(3)
    gateways = [Asking(valkey, name) for name in "abc"]
    running = {one: [0, 0, 0] for one in gateways}
    under_way: dict[Asking, int] = {}
    most = 0
    for _ in range(1500):
        one = chance.choice(gateways)
        mine = running[one]
        if one in under_way:
            one.held = under_way.pop(one)
        for rank in range(3):  # some end
            mine[rank] -= chance.randint(0, mine[rank])
        asked = (mine[0], mine[1], mine[2])
        waiting = (chance.randint(0, 3), chance.randint(0, 3), chance.randint(0, 3))
        under_way[one] = await one.hears(10, asked, waiting)
        while sum(mine) < one.held and chance.random() < 0.8:  # some begin before it is heard
            mine[chance.randint(0, 2)] += 1
        together = sum(map(sum, running.values()))
        assert together <= 10
        most = max(most, together)
    assert most == 10
    for one in gateways:
        await one.shares.leave()


async def test_a_server_that_cannot_be_reached_says_so_quickly(valkey: Valkey) -> None:
    one = Asking(valkey, "one")
    assert await one.asks(4) == 4
    await valkey.kill()

    began = perf_counter()
    with pytest.raises(UnavailableError, match="redis: "):
        await one.asks(4)
    assert perf_counter() - began < 5.0

    await valkey.start()  # empty, and without our functions
    assert await one.asks(4) == 4
    await one.shares.leave()


def test_all_that_concerns_a_model_lies_in_one_place_of_a_cluster() -> None:
    assert key(CHAT) == "controlplane:{chat}:slots"
