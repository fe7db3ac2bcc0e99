"""A watch against an API server that is played, in virtual time: versions, and who comes when.

Against a real one it is tested in tests/cluster/test_watching.py; here it is the pauses, which only
show over minutes, and the exact words of an API server at a moment of our choice.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.adapters.kubernetes.client import Api
from controlplane.adapters.kubernetes.node_shape import Machine, RawNode, keep_node
from controlplane.adapters.kubernetes.refusals import Asked, refusal
from controlplane.adapters.kubernetes.resources import NODES, Place
from controlplane.adapters.kubernetes.watching import Kind, Pauses, Watch
from controlplane.ports import UnavailableError

Said = Mapping[str, Any]
Answer = list[Said] | Exception
FOREVER_S = 3600.0


def node(version: int, **about: Any) -> Said:
    return {"metadata": {"name": "n0", "resourceVersion": str(version), **about}}


def added(version: int) -> Said:
    return {"type": "ADDED", "object": node(version)}


def bookmark(version: int) -> Said:
    return {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(version)}}}


GONE: Said = {"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old"}}


class Played:
    """An API server: a list has one node at version 5; each watch gives the next answer."""

    def __init__(self, *watches: Answer, lists: Callable[[], None] = lambda: None) -> None:
        self.listed: list[float] = []  # when
        self.watched: list[tuple[float, str]] = []  # when, and from which version
        self._watches = deque(watches)
        self._lists = lists

    async def page(self, *_: object) -> bytes:
        self.listed.append(asyncio.get_running_loop().time())
        self._lists()
        return msgspec.json.encode({"items": [node(5)], "metadata": {"resourceVersion": "5"}})

    @asynccontextmanager
    async def stream(
        self, _asked: Asked, query: Mapping[str, str], _silent_s: float
    ) -> AsyncIterator[asyncio.StreamReader]:
        assert query["allowWatchBookmarks"] == "true"
        self.watched.append((asyncio.get_running_loop().time(), query["resourceVersion"]))
        answer = self._watches.popleft() if self._watches else []
        if isinstance(answer, Exception):
            raise answer
        reader = asyncio.StreamReader()
        for event in answer:
            reader.feed_data(msgspec.json.encode(event) + b"\n")
        lasts_s = 10.0 if answer else FOREVER_S
        asyncio.get_running_loop().call_later(lasts_s, reader.feed_eof)
        yield reader


def away() -> UnavailableError:
    return UnavailableError("the API server does not answer")


def a_watch(
    server: Played, seed: int = 1, pauses: Pauses | None = None
) -> tuple[Watch[RawNode, Machine], list[int]]:
    stirred: list[int] = []
    watch = Watch(
        cast("Api", server),
        Place(NODES),
        Kind(RawNode, keep_node),
        lambda: stirred.append(1),
        Random(seed),
        pauses,
    )
    return watch, stirred


@asynccontextmanager
async def running(
    server: Played, seed: int = 1, pauses: Pauses | None = None
) -> AsyncIterator[tuple[Watch[RawNode, Machine], list[int]]]:
    watch, stirred = a_watch(server, seed, pauses)
    task = asyncio.create_task(watch.run())
    yield watch, stirred
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.looptime
async def test_a_bookmark_makes_the_version_younger_and_changes_nothing_else() -> None:
    server = Played([added(6), bookmark(40), bookmark(900)])

    async with running(server) as (watch, stirred):
        await asyncio.sleep(5)
        before = (watch.revision, dict(watch.items), len(stirred))
        assert watch.items[("", "n0")].version == 6
        await asyncio.sleep(60)

        assert [version for _, version in server.watched] == ["5", "900"]
        assert len(server.listed) == 1
        assert (watch.revision, dict(watch.items), len(stirred)) == before
        assert watch.age_s == 0.0


@pytest.mark.looptime
async def test_without_a_bookmark_a_version_grown_old_costs_a_list() -> None:
    """What bookmarks are for: the same watch, and the API server has forgotten version 6."""
    server = Played([added(6)], [GONE])

    async with running(server) as (watch, _):
        await asyncio.sleep(60)

        assert [version for _, version in server.watched] == ["5", "6", "5"]
        assert len(server.listed) == 2
        assert (watch.failure, watch.age_s) == ("", 0.0)


@pytest.mark.looptime
async def test_a_broken_watch_goes_on_from_its_bookmark_before_it_lists_again() -> None:
    server = Played([bookmark(40)], away(), away(), [bookmark(41)], away(), away(), away())

    async with running(server) as (watch, _):
        await asyncio.sleep(60)

        versions = [version for _, version in server.watched]
        assert versions == ["5", "40", "40", "40", "41", "41", "41", "5"]
        assert len(server.listed) == 2  # after the third failure in a row, and not before
        assert watch.synced


def gaps(times: list[float]) -> list[float]:
    return [b - a for a, b in itertools.pairwise(times)]


def always_away() -> None:
    raise away()


@pytest.mark.looptime
async def test_pauses_double_up_to_the_longest_and_each_is_spread_over_half_of_itself() -> None:
    server = Played(lists=always_away)

    async with running(server):
        await asyncio.sleep(60)

    waited = gaps(server.listed)
    whole = [min(0.2 * 2**number, 5.0) for number in range(len(waited))]
    assert len(waited) >= 12
    assert all(0.5 * most <= gap <= most + 1e-6 for gap, most in zip(waited, whole, strict=True))
    assert len({round(gap / most, 3) for gap, most in zip(waited, whole, strict=True)}) > 6


@pytest.mark.looptime
async def test_many_daemons_do_not_come_back_at_one_moment() -> None:
    servers = [Played(lists=always_away) for _ in range(50)]
    tasks = [
        asyncio.create_task(a_watch(server, seed)[0].run()) for seed, server in enumerate(servers)
    ]
    await asyncio.sleep(60)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    tenths = [int(10 * server.listed[8]) for server in servers]  # the ninth time, some 20 s later
    assert max(tenths.count(each) for each in tenths) <= 10
    assert max(tenths) - min(tenths) >= 30


@pytest.mark.looptime
async def test_a_watch_that_stood_is_taken_up_again_after_the_first_pause() -> None:
    answers: list[Answer] = [[bookmark(6)], away(), away(), [bookmark(7)], away(), [bookmark(8)]]
    server = Played(*answers)

    async with running(server):
        await asyncio.sleep(60)

    waited = gaps([at for at, _ in server.watched])
    assert 0.1 <= waited[1] <= 0.2
    assert 0.2 <= waited[2] <= 0.4
    assert 0.1 <= waited[4] <= 0.2  # it stood in between, so it begins again


@pytest.mark.looptime
async def test_who_is_forbidden_asks_more_and_more_seldom() -> None:
    """Rights are granted by people: the longest pause is half a minute, not five seconds."""

    def forbidden() -> None:
        raise refusal(Asked("list", Place(NODES)), 403, b'{"message": "nodes is forbidden"}')

    server = Played(lists=forbidden)

    async with running(server) as (watch, _):
        await asyncio.sleep(600)
        assert watch.forbidden

    assert all(15.0 <= gap <= 30.0 + 1e-6 for gap in gaps(server.listed)[8:])


@given(
    failures=st.integers(1, 10_000),
    seed=st.integers(0, 2**32),
    forbidden=st.booleans(),
)
def test_no_pause_is_ever_longer_than_the_longest_nor_shorter_than_half_the_first(
    failures: int, seed: int, *, forbidden: bool
) -> None:
    watch, _ = a_watch(Played(), seed, Pauses())
    watch._failures, watch.forbidden = failures, forbidden

    pause = watch._pause()

    assert 0.1 <= pause <= (30.0 if forbidden else 5.0)
