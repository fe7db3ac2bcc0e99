"""Two daemons on one PostgreSQL and one cluster: one leads, and the other takes over."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Engine, create_engine, text

from controlplane.adapters.sql.address import Address
from controlplane.clock import stopwatch
from tests.cluster.accounts import second_account
from tests.cluster.audit import Audit
from tests.cluster.stage.daemon import Daemon
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until
from tests.postgresql import postgresql, programs

FROZEN_S = 30.0
# Every change of the store, with the account that made it: each daemon has one of its own.
WATCHED = ("decisions", "loop_memory", "ledger")
NOTES = """
CREATE TABLE noted (who name, what text, at timestamptz);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN INSERT INTO noted VALUES (current_user, TG_TABLE_NAME, clock_timestamp());
     RETURN NULL; END $$;
"""


class Shared:
    """One database, and who wrote what to it."""

    def __init__(self, url: str) -> None:
        self.of = {name: url.replace("fleet@", f"{name}@") for name in ("first", "second")}
        self._engine: Engine = create_engine(
            Address(url).blocking_url, isolation_level="AUTOCOMMIT"
        )
        for name in self.of:
            self._run(f"CREATE ROLE {name} SUPERUSER LOGIN")

    def watch(self) -> None:
        self._run(NOTES)
        for table in WATCHED:
            on = f"AFTER INSERT OR UPDATE ON {table} FOR EACH STATEMENT"
            self._run(f"CREATE TRIGGER note {on} EXECUTE FUNCTION note()")

    def forget(self) -> None:
        self._run("DELETE FROM noted")

    def writers(self) -> set[str]:
        with self._engine.connect() as connection:
            return set(connection.execute(text("SELECT DISTINCT who FROM noted")).scalars())

    async def written(self) -> bool:
        return bool(self.writers())

    def close(self) -> None:
        self._engine.dispose()

    def _run(self, statement: str) -> None:
        with self._engine.connect() as connection:
            connection.execute(text(statement))


@pytest.fixture
def shared() -> Iterator[Shared]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with postgresql() as url:
        made = Shared(url)
        yield made
        made.close()


async def leads(daemon: Daemon) -> bool:
    return bool((await daemon.get("/api/v1/world"))["leading"])


async def one_leads(*daemons: Daemon) -> list[Daemon]:
    """Give them, the leader first."""
    ranked: list[Daemon] = []

    async def decided() -> bool:
        leading = [daemon for daemon in daemons if await leads(daemon)]
        ranked[:] = [*leading, *(daemon for daemon in daemons if daemon not in leading)]
        return len(leading) == 1

    await until(decided, 30.0)
    return ranked


@pytest.mark.timeout(150)
async def test_of_two_that_advise_one_keeps_the_journal_and_neither_writes_to_the_cluster(
    stage: Scene, audit: Audit, shared: Shared
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    async with (
        stage.daemon(fleet_text(), "--data", shared.of["first"], name="first") as first,
        stage.daemon(fleet_text(), "--data", shared.of["second"], name="second") as second,
    ):
        shared.watch()
        leader, follower = await one_leads(first, second)

        await until(shared.written, 40.0)
        assert len(shared.writers()) == 1

        async def shows_the_same() -> bool:
            named = [(await daemon.get("/api/v1/world"))["leader"] for daemon in (first, second)]
            return bool(named[0]) and named[0] == named[1]

        await until(shows_the_same, 10.0)
        before = shared.writers()
        await leader.stop()
        shared.forget()

        async def follows() -> bool:
            return await leads(follower)

        await until(follows, 10.0)
        await until(shared.written, 40.0)
        assert shared.writers() == {"first", "second"} - before

    assert audit.refused(stage.account.user) == []
    assert [one for one in audit.writes(stage.account.user) if "selfsubject" not in one] == []


@pytest.mark.timeout(500)
async def test_t4_a_leader_that_froze_for_30_s_writes_nothing_when_it_wakes(
    stage: Scene, shared: Shared
) -> None:
    """A whole daemon that acts, frozen when it is about to promote: neither cluster nor store.

    The other one promotes, and takes back; each has an account of its own at both.
    """
    await stage.nodes.add("T4", 1, zone="z1")
    account = await second_account(stage.api, stage.cluster, stage.namespace, "second")
    beside = replace(stage, account=account)
    fleet, act = fleet_text(most=2), ("--mode", "act", "--data")
    async with (
        stage.daemon(fleet, *act, shared.of["first"], name="first") as first,
        beside.daemon(fleet, *act, shared.of["second"], name="second") as second,
        stage.balancer() as balancer,
    ):
        users = {first: stage.account.user, second: account.user}
        shared.watch()
        await stage.lanes.settle(90.0, serving=1, warm=1)
        await balancer.served(1, 60.0)
        old, new = await one_leads(first, second)
        load = asyncio.create_task(balancer.load(40.0, 200.0))
        old.freeze()
        began = stopwatch()

        async def taken_over() -> bool:
            return await leads(new)

        await until(taken_over, 60.0)
        await stage.lanes.settle(90.0, serving=2)
        await asyncio.sleep(max(0.0, FROZEN_S - (stopwatch() - began)))
        shared.forget()
        audit = Audit(stage.cluster.audit_log)
        old.thaw()

        async def follows() -> bool:
            return not await leads(old) and bool(await old.get("/api/v1/models/chat"))

        await until(follows, 60.0)
        load.cancel()
        await stage.lanes.settle(120.0, serving=1, warm=1)
        await until(shared.written, 60.0)
        assert shared.writers() == {"second" if new is second else "first"}
        assert audit.writes(users[old]) == []
        assert audit.writes(users[new])
        assert audit.lacked(users[old]) == []


@pytest.mark.timeout(150)
async def test_a_leader_that_is_stopped_hands_over_at_once(stage: Scene, shared: Shared) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    act = ("--mode", "act", "--data")
    async with (
        stage.daemon(fleet_text(), *act, shared.of["first"], name="first") as first,
        stage.daemon(fleet_text(), *act, shared.of["second"], name="second") as second,
    ):
        leader, follower = await one_leads(first, second)
        await stage.lanes.settle(serving=1, warm=1)
        before = (await follower.get("/api/v1/models/chat"))["row"]["target"]
        await leader.stop()
        began = stopwatch()

        async def follows() -> bool:
            return await leads(follower)

        await until(follows, 10.0)
        took_s = stopwatch() - began
        after = (await follower.get("/api/v1/models/chat"))["row"]["target"]

    assert took_s < 2.0
    assert (before, after) == (1, 1)
