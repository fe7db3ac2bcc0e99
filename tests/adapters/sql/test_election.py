"""Two daemons that only advise share a real PostgreSQL: one leads, and is followed at once."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from sqlalchemy import create_engine, text

from controlplane.adapters.sql.address import Address
from controlplane.adapters.sql.election import HEARD_WITHIN_S, LOOKS_S, StoreElection
from controlplane.adapters.sql.worlds import World
from tests.postgresql import postgresql, programs

WORLD = World(7, "cluster-1")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with postgresql() as url:
        yield url


class Standing:
    """An election that runs."""

    def __init__(self, election: StoreElection) -> None:
        self.election = election
        self._task = asyncio.create_task(election.run())

    async def until(self, holds: Callable[[StoreElection], object]) -> None:
        async with asyncio.timeout(10.0):
            while not holds(self.election):
                turned = asyncio.Event()
                self.election.changed = turned.set
                try:
                    async with asyncio.timeout(0.1):
                        await turned.wait()
                except TimeoutError:
                    continue

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])


@pytest.fixture
async def stand(server: str) -> AsyncIterator[Callable[..., Standing]]:
    standing: list[Standing] = []

    def stood(name: str, world: World = WORLD) -> Standing:
        standing.append(Standing(StoreElection(server, world, name)))
        return standing[-1]

    yield stood
    for one in standing:
        await one.end()


Stand = Callable[..., Standing]


def leads(election: StoreElection) -> bool:
    return election.leading


async def test_one_leads_and_the_other_knows_whom(stand: Stand) -> None:
    first = stand("cp-0")
    await first.until(leads)
    second = stand("cp-1")
    await second.until(lambda election: election.leader == "cp-0")

    assert not second.election.leading
    assert (first.election.leader, first.election.term) == ("cp-0", 1)


async def test_who_ends_is_followed_within_one_look(stand: Stand) -> None:
    first = stand("cp-0")
    await first.until(leads)
    second = stand("cp-1")
    await second.until(lambda election: election.leader == "cp-0")

    await first.end()
    async with asyncio.timeout(LOOKS_S + 1.0):
        await second.until(leads)

    assert not first.election.leading


async def test_another_world_has_another_leader(stand: Stand) -> None:
    first, second = stand("cp-0"), stand("cp-1", World(8, "cluster-2"))

    await first.until(leads)
    await second.until(leads)


async def test_who_lost_its_session_leads_no_longer_and_begins_anew(
    server: str, stand: Stand
) -> None:
    leader = stand("cp-0")
    await leader.until(leads)
    engine = create_engine(Address(server).blocking_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
        connection.execute(text(f"{ended}'cp-0'"))
    engine.dispose()

    await leader.until(lambda election: not election.leading)
    await leader.until(leads)

    assert leader.election.term == 2


def test_t4_who_was_frozen_leads_no_longer_the_moment_it_wakes() -> None:
    now = [100.0]
    election = StoreElection("postgresql://host/name", WORLD, "cp-0", elapsed=lambda: now[0])
    election._heard_at = 100.0
    assert election.leading

    now[0] += HEARD_WITHIN_S

    assert not election.leading


async def test_without_a_server_nobody_leads() -> None:
    standing = Standing(StoreElection("postgresql://fleet@127.0.0.1:1/fleet", WORLD, "cp-0"))
    await standing.until(lambda election: election.trouble)

    assert "cannot be reached" in standing.election.trouble
    assert standing.election.leader == ""
    await standing.end()
