"""Several daemons around one store: one leads, the others look and show and write nothing."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from controlplane.clock import Clock
from controlplane.domain.actions import WarmUp
from controlplane.domain.decisions import DONE, Choice, Ending, Outcome, Target
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.reasons import ReasonCode
from controlplane.loops.in_memory import MemoryJournal, MemoryLoopMemory
from controlplane.loops.reconcile import Loop, Shell, reconcile
from controlplane.ports import DecisionQuery, DecisionRow
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.metrics import Metrics

pytestmark = pytest.mark.looptime(start=100.0)


class Count(msgspec.Struct, frozen=True):
    cycles: int = 0


class Reign:
    """A leadership that the test gives and takes."""

    def __init__(self, *, leading: bool) -> None:
        self.leading, self.leader, self.term, self.trouble = leading, "cp-0", 1, ""


class Store:
    """What all daemons share."""

    def __init__(self) -> None:
        self.journal, self.memory = MemoryJournal(), MemoryLoopMemory()

    async def rows(self) -> Sequence[DecisionRow]:
        return await self.journal.decisions(DecisionQuery())


class Daemon:
    """A loop that counts its cycles and always wants two things done."""

    def __init__(self, store: Store, *, leading: bool) -> None:
        self.reign = Reign(leading=leading)
        self.acted: list[str] = []
        self.shown: list[tuple[int, int]] = []  # choices, remembered cycles
        self.in_force: list[int] = []
        self.shell = Shell(
            clock=Clock(1.0, start=1_000.0),
            journal=store.journal,
            memory=store.memory,
            heartbeats=Heartbeats(),
            metrics=Metrics(),
            catalogue_version=lambda: 7,
            leadership=self.reign,
        )

    async def observe(self) -> int:
        return 0

    def decide(self, _seen: int, memory: Count) -> tuple[Sequence[Choice], Count]:
        target = Target(memory.cycles).move(memory.cycles + 1, ReasonCode.PROMOTED)
        choices = [
            Choice(
                subject=subject,
                current=memory.cycles,
                target=target.replicas,
                trail=target.trail,
                actions=(WarmUp(ReplicaName(subject), 1),),
            )
            for subject in ("a", "b")
        ]
        return choices, Count(memory.cycles + 1)

    async def act(self, choice: Choice) -> Outcome:
        self.acted.append(choice.subject)
        return DONE

    def seen(self, _seen: int, choices: Sequence[Choice], memory: Count) -> None:
        self.shown.append((len(choices), memory.cycles))

    async def run(self, seconds: float) -> None:
        loop = Loop(
            name="bench",
            every_s=5.0,
            observe=self.observe,
            decide=self.decide,
            act=self.act,
            fresh=Count(),
            restore=lambda memory: self.in_force.append(memory.cycles),
            seen=self.seen,
        )
        task = asyncio.create_task(reconcile(loop, self.shell))
        await asyncio.sleep(seconds)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_follower_looks_and_shows_what_the_leader_remembers_and_writes_nothing() -> None:
    store = Store()
    await Daemon(store, leading=True).run(11.0)  # three cycles
    rows = await store.rows()
    follower = Daemon(store, leading=False)

    await follower.run(11.0)

    assert follower.acted == []
    assert follower.shown == [(0, 3)] * 3
    assert follower.in_force == [3] * 3
    assert await store.rows() == rows
    assert await store.memory.load("bench") == msgspec.json.encode(Count(3))


async def test_a_follower_is_alive() -> None:
    follower = Daemon(Store(), leading=False)
    await follower.run(11.0)

    beat = follower.shell.heartbeats.beats["bench"]
    assert (beat.cycles, beat.failures) == (3, 0)


async def test_who_comes_to_lead_goes_on_from_what_the_leader_before_remembered() -> None:
    store = Store()
    follower = Daemon(store, leading=False)
    old = Daemon(store, leading=True)
    running = asyncio.create_task(follower.run(21.0))
    await old.run(11.0)
    left = Outcome(Ending.OPEN)
    row = (await store.rows())[0].id
    await store.journal.close(row, left, 0.0)  # it died while it acted

    follower.reign.leading, follower.reign.term = True, 2
    follower.shell.wake()
    await running

    endings = {row.id: row.ending for row in await store.rows()}
    assert endings[row] is Ending.SETTLED
    assert Ending.OPEN not in endings.values()
    assert follower.shown[-1] == (2, 5)  # three of the old one's, two of its own


async def test_a_reign_that_ended_and_began_again_between_two_cycles_is_noticed() -> None:
    store = Store()
    daemon = Daemon(store, leading=True)
    running = asyncio.create_task(daemon.run(9.0))
    await asyncio.sleep(1.0)
    await store.memory.save("bench", msgspec.json.encode(Count(40)))  # somebody else's work
    daemon.reign.term = 3
    await running

    assert daemon.shown == [(2, 1), (2, 41)]


async def test_t4_who_lost_the_lead_while_it_decided_writes_nothing() -> None:
    store = Store()
    daemon = Daemon(store, leading=True)
    decide = daemon.decide

    def frozen(_seen: int, memory: Count) -> tuple[Sequence[Choice], Count]:
        daemon.reign.leading = False
        return decide(_seen, memory)

    daemon.decide = frozen  # type: ignore[method-assign]  # the process stands still here
    await daemon.run(1.0)

    assert daemon.acted == []
    assert await store.rows() == []
    assert await store.memory.load("bench") is None


async def test_t4_who_lost_the_lead_while_it_acted_stops_and_leaves_the_rows_to_the_next() -> None:
    store = Store()
    old = Daemon(store, leading=True)
    act = old.act

    async def frozen(choice: Choice) -> Outcome:
        outcome = await act(choice)
        old.reign.leading = False
        return outcome

    old.act = frozen  # type: ignore[method-assign]  # the process stands still here
    await old.run(1.0)

    assert old.acted == ["a"]
    assert [row.ending for row in await store.rows()] == [Ending.OPEN, Ending.OPEN]

    await Daemon(store, leading=True).run(1.0)

    assert [row.ending for row in await store.rows()][-2:] == [Ending.SETTLED, Ending.SETTLED]


async def test_without_an_election_a_daemon_leads() -> None:
    daemon = Daemon(Store(), leading=True)
    shell = Shell(
        clock=daemon.shell.clock,
        journal=daemon.shell.journal,
        memory=daemon.shell.memory,
        heartbeats=daemon.shell.heartbeats,
        metrics=daemon.shell.metrics,
        catalogue_version=lambda: 7,
    )

    assert shell.leadership.leading
    assert shell.leadership.leader == "this daemon"
