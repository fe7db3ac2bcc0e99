"""Gateways that join a daemon: told one plan, added up, as bad as the worst, in doubt when gone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controlplane.adapters.sql.opening import open_store
from controlplane.clock import Clock
from controlplane.daemon import joined as module
from controlplane.daemon.joined import JoinedGateways
from controlplane.decide.breakers.breaker import CLOSED, Breaker, State
from controlplane.decide.breakers.happenings import BreakerSeen, Ends, choice, step
from controlplane.domain.gateway import Endpoint, GatewayPlan, ServedModel
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.quantities import ModelName, ReplicaName, Zone
from controlplane.domain.reasons import ReasonCode
from controlplane.gateway.joining import Changed, Joining, Leaving, Orders, Report
from controlplane.gateway.messages import Breach, Counted
from controlplane.gateway.tally import ClassTally
from controlplane.loops.reconcile import Shell
from controlplane.ports import DecisionQuery, Signals, UnavailableError
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.metrics import Metrics

CHAT = ModelName("chat")
AT = Endpoint(replica=ReplicaName("chat-1"), host="10.0.0.1", port=8000, slots=8)
PLAN = GatewayPlan(models=(ServedModel(name=CHAT, endpoints=(AT,)),))
TRIES = BreakerPolicy(failures=1)
OPENED = step(BreakerSeen(at=0.0, model=CHAT, before=CLOSED, policy=TRIES, happened=Ends("b")))


class Wire:
    """Both ends of a line, in memory."""

    def __init__(self, name: str, **more: Any) -> None:
        self.who = Joining(name=name, address="10.0.1.1", port=10080, zone=Zone("z1"), **more)
        self._heard: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.told: asyncio.Queue[Orders] = asyncio.Queue()
        self.say_to(self.who)

    def say_to(self, report: Report) -> None:
        self._heard.put_nowait(msgspec.json.encode(report))

    async def hear(self) -> bytes | None:
        return await self._heard.get()

    async def say(self, message: bytes) -> None:
        self.told.put_nowait(msgspec.json.decode(message, type=Orders))

    async def close(self) -> None:
        self._heard.put_nowait(None)


class Bench:
    """A daemon's side of it, on a store of its own."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.sources: dict[Any, Signals] = {}
        self.plan = PLAN
        self._metrics = Metrics()
        shell = Shell(
            clock=Clock(),
            journal=store.journal,
            memory=store.memory,
            heartbeats=Heartbeats(),
            metrics=self._metrics,
            catalogue_version=lambda: 1,
        )
        self.woken = shell.wakes.setdefault("scaling", asyncio.Event())
        self.gateways = JoinedGateways(self._ready, self._newest, store, shell, self.sources)
        tasks = self.gateways.tasks.values()
        self._tasks = [asyncio.ensure_future(run()) for run in tasks]

    def shown(self) -> float | None:
        """Give how many have joined, as Prometheus would see it."""
        return self._metrics.registry.get_sample_value("controlplane_gateways_joined")

    async def _ready(self) -> None:
        pass

    async def _newest(self) -> GatewayPlan:
        return self.plan

    @asynccontextmanager
    async def joined(self, wire: Wire) -> AsyncIterator[Orders]:
        """Have a gateway that has joined and was told what to serve."""
        attending = asyncio.create_task(self.gateways.attend(wire))
        try:
            async with asyncio.timeout(20):
                yield await wire.told.get()
        finally:
            await wire.close()
            await attending

    async def codes(self) -> list[ReasonCode | None]:
        rows = await self.store.decisions.decisions(DecisionQuery(loop="breakers"))
        return [row.decisive for row in rows]

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_store(str(tmp_path), "world-1", create=True) as store:
        made = Bench(store)
        yield made
        await made.end()


def counted(arrived: int, queued: int = 0) -> Counted:
    high = ClassTally(arrived=arrived, admitted=arrived - queued, queued=queued)
    return Counted(models={CHAT: [high, ClassTally(), ClassTally()]}, unplaced={})


async def arrived(bench: Bench, count: int) -> bool:
    """Await that so many have arrived at all gateways together."""
    async with asyncio.timeout(20):
        while True:
            told = await bench.gateways.queues()
            with suppress(StopIteration, KeyError, AttributeError):
                assert told is not None
                classes = told[CHAT].classes
                if next(iter(classes.values())).counted.arrived == count:
                    return True
            await asyncio.sleep(0.01)


async def test_each_is_told_the_plan_with_its_own_zone_and_all_who_joined(bench: Bench) -> None:
    one, two = Wire("gw-1"), Wire("gw-2")
    async with bench.joined(one) as first, bench.joined(two) as second:
        async with asyncio.timeout(20):
            again = await one.told.get()

    assert first.plan.models == second.plan.models == PLAN.models
    assert [at.replica for at in first.plan.peers] == ["gw-1"]
    assert [at.replica for at in again.plan.peers] == ["gw-1", "gw-2"]
    assert second.plan.zone == "z1"
    assert second.leading


async def test_a_change_is_told_at_once_and_what_did_not_change_is_not(bench: Bench) -> None:
    wire = Wire("gw-1")
    async with bench.joined(wire):
        bench.gateways.look()
        bench.plan = msgspec.structs.replace(PLAN, models=())
        bench.gateways.look()
        async with asyncio.timeout(20):
            orders = await wire.told.get()
        bench.gateways.look()

    assert orders.plan.models == ()
    assert wire.told.empty()


async def test_what_they_count_is_added_up_and_a_line_that_begins_anew_counts_nothing_twice(
    bench: Bench,
) -> None:
    async with bench.joined(Wire("gw-2")) as _:
        one = Wire("gw-1")
        async with bench.joined(one):
            one.say_to(counted(10))
            assert await arrived(bench, 10)
        again = Wire("gw-1")  # it says what came since this line began
        async with bench.joined(again):
            again.say_to(counted(3))
            assert await arrived(bench, 13)


async def test_a_broken_limit_at_any_of_them_wakes_scaling_at_once(bench: Bench) -> None:
    wire = Wire("gw-1")
    async with bench.joined(wire), asyncio.timeout(20):
        wire.say_to(counted(1))
        assert await arrived(bench, 1)
        wire.say_to(counted(2, queued=1))
        wire.say_to(Breach(CHAT, "waiting"))
        await bench.woken.wait()
        told = await bench.gateways.queues()

    assert told is not None
    assert next(iter(told[CHAT].classes.values())).waiting == 1  # what it is about is known by then


async def test_one_that_vanished_leaves_its_figures_in_doubt_until_it_is_back(
    bench: Bench,
) -> None:
    async with bench.joined(Wire("gw-2")):
        async with bench.joined(Wire("gw-1")):
            await bench.gateways.loads()
        with pytest.raises(UnavailableError, match="gw-1 vanished"):
            await bench.gateways.loads()
        async with bench.joined(Wire("gw-1")):
            await bench.gateways.loads()


async def test_one_that_says_goodbye_leaves_no_doubt(bench: Bench) -> None:
    async with bench.joined(Wire("gw-2")):
        one = Wire("gw-1")
        async with bench.joined(one):
            one.say_to(Leaving())
        await bench.gateways.loads()

    with pytest.raises(UnavailableError, match="gw-2 vanished"):
        await bench.gateways.loads()


async def test_while_one_has_joined_it_is_a_source_of_signals(bench: Bench) -> None:
    assert bench.sources == {}
    assert await bench.gateways.queues() is None

    async with bench.joined(Wire("gw-1")), asyncio.timeout(20):
        assert bench.sources == {module.SOURCE: bench.gateways}
        while bench.shown() != 1:  # noqa: ASYNC110  # it is counted beside
            await asyncio.sleep(0.01)


async def test_a_model_is_as_bad_as_the_worst_says_and_is_written_down_once(bench: Bench) -> None:
    seen = BreakerSeen(at=0.0, model=CHAT, before=CLOSED, policy=TRIES, happened=Ends("b"))
    change = Changed(choice(seen, OPENED), OPENED.breaker)
    one, two = Wire("gw-1"), Wire("gw-2")

    async with bench.joined(one), bench.joined(two), asyncio.timeout(20):
        one.say_to(change)
        two.say_to(change)
        while not (codes := await bench.codes()):  # noqa: ASYNC110  # it is written beside
            await asyncio.sleep(0.01)
        view = await bench.gateways.breakers()
        assert view is not None
        third = Wire("gw-3")
        async with bench.joined(third) as orders:
            pass

    assert view.states[CHAT].state is State.OPEN
    assert bench.gateways.open_breakers().keys() == {CHAT}
    assert orders.states[CHAT].state is State.OPEN  # one that begins goes on from there
    assert codes == await bench.codes() == [ReasonCode.BREAKER_OPENED]


async def test_one_that_kept_its_breakers_says_where_they_stand(bench: Bench) -> None:
    stood = Breaker(state=State.OPEN, until=1e12, opened=2)
    async with bench.joined(Wire("gw-1", states={CHAT: stood})):
        view = await bench.gateways.breakers()

    assert view is not None
    assert view.states == {CHAT: stood}


async def test_who_speaks_otherwise_is_let_go(bench: Bench) -> None:
    wire = Wire("gw-1")
    async with bench.joined(wire):
        wire._heard.put_nowait(b'{"type": "Unheard"}')

    assert bench.gateways._joined == {}
