"""The one loop, in virtual time: what a cycle does, and what failing costs."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest
from structlog.testing import capture_logs

from controlplane.clock import Clock
from controlplane.domain.actions import WarmUp
from controlplane.domain.decisions import Choice, Ending, Outcome, Target
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.reasons import ReasonCode
from controlplane.loops.in_memory import MemoryJournal, MemoryLoopMemory
from controlplane.loops.reconcile import Loop, Shell, reconcile
from controlplane.ports import DecisionQuery, UnavailableError
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.metrics import Metrics

EVERY_S = 5.0
ACTION = WarmUp(replica=ReplicaName("r"), requests=1)
pytestmark = pytest.mark.looptime(start=100.0)


class Count(msgspec.Struct, frozen=True):
    cycles: int = 0


class Bench:
    """A loop over a counter: it does what the test's script says, cycle by cycle."""

    def __init__(self, *script: Exception | None, rate: float = 1.0) -> None:
        self.script = list(script)
        self.journal = MemoryJournal()
        self.memory = MemoryLoopMemory()
        self.observed: list[float] = []
        self.done: list[str] = []
        self.clock = Clock(rate, start=1_000.0)
        self.shell = Shell(
            clock=self.clock,
            journal=self.journal,
            memory=self.memory,
            heartbeats=Heartbeats(),
            metrics=Metrics(),
            catalogue_version=lambda: 7,
        )
        self.outcome = Outcome(Ending.DONE, "done")

    async def observe(self) -> int:
        self.observed.append(self.clock.now() - 1_000.0)
        failure = self.script.pop(0) if self.script else None
        if failure is not None:
            raise failure
        return len(self.observed)

    def decide(self, seen: int, memory: Count) -> tuple[Sequence[Choice], Count]:
        trail = Target(seen - 1).move(seen, ReasonCode.PROMOTED).trail
        choice = Choice(
            subject="m", current=seen - 1, target=seen, trail=trail, actions=(ACTION,), seen=memory
        )
        return (choice,), Count(memory.cycles + 1)

    async def act(self, _choice: Choice) -> Outcome:
        rows = await self.journal.decisions(DecisionQuery())
        self.done.append(rows[0].ending)
        return self.outcome

    async def run(self, seconds: float) -> None:
        loop = Loop(
            name="bench", every_s=EVERY_S, observe=self.observe, decide=self.decide, act=self.act,
            fresh=Count(),
        )  # fmt: skip
        task = asyncio.create_task(reconcile(loop, self.shell))
        await asyncio.sleep(seconds)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_cycle_comes_every_period() -> None:
    bench = Bench()
    await bench.run(12.0)

    assert bench.observed == [0.0, 5.0, 10.0]


async def test_a_faster_clock_lets_the_world_s_periods_pass_sooner() -> None:
    bench = Bench(rate=10.0)
    await bench.run(1.2)

    assert bench.observed == pytest.approx([0.0, 5.0, 10.0])


async def test_law_3_a_choice_is_written_open_before_it_is_done_and_closed_after() -> None:
    bench = Bench()
    await bench.run(1.0)
    rows = await bench.journal.decisions(DecisionQuery())

    assert bench.done == [Ending.OPEN]
    assert [(row.ending, row.note, row.catalogue_version) for row in rows] == [
        (Ending.DONE, "done", 7)
    ]


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(UnavailableError("no answer"), id="unavailable"),
        pytest.param(ZeroDivisionError("a bug"), id="a-bug"),
    ],
)
async def test_a_failure_costs_one_cycle_and_is_seen(failure: Exception) -> None:
    bench = Bench(failure)
    with capture_logs() as logs:
        await bench.run(6.0)

    assert len(bench.observed) == 2
    assert len(bench.done) == 1
    beat = bench.shell.heartbeats.beats["bench"]
    assert (beat.cycles, beat.failures, beat.failure) == (2, 1, "")
    changes = [line["event"] for line in logs if line["log_level"] == "warning"]
    assert changes == ["cycles fail", "cycles run again"]


async def test_a_failure_that_lasts_is_said_once() -> None:
    bench = Bench(*[UnavailableError("gone")] * 5)
    with capture_logs() as logs:
        await bench.run(31.0)

    assert [line["event"] for line in logs].count("cycles fail") == 1


async def test_a_wake_lets_a_loop_look_now() -> None:
    bench = Bench()
    asyncio.get_running_loop().call_later(2.0, bench.shell.wake)
    await bench.run(4.0)

    assert bench.observed == [0.0, 2.0]


async def test_law_11_a_restart_goes_on_from_the_stored_memory() -> None:
    first = Bench()
    await first.run(11.0)
    again = Bench()
    again.memory = again.shell.memory = first.memory
    await again.run(1.0)

    stored = await again.memory.load("bench")
    assert stored is not None
    assert msgspec.json.decode(stored, type=Count) == Count(4)


async def test_a_row_left_open_by_a_crash_is_settled_at_the_next_start() -> None:
    bench = Bench()
    choices, _ = bench.decide(9, Count())
    await bench.journal.open("bench", choices, 990.0, 7)

    await bench.run(1.0)
    rows = await bench.journal.decisions(DecisionQuery())

    assert Ending.SETTLED in [row.ending for row in rows]
    assert not await bench.journal.unsettled("bench")


async def test_law_3_a_row_left_open_by_a_failed_act_is_settled_by_the_next_cycle() -> None:
    bench = Bench()
    acts = [UnavailableError("gone in the middle"), ZeroDivisionError("a bug")]

    async def act(choice: Choice) -> Outcome:
        if acts:
            raise acts.pop(0)
        return await Bench.act(bench, choice)

    bench.act = act  # type: ignore[method-assign, assignment]  # fails twice
    await bench.run(11.0)
    rows = await bench.journal.decisions(DecisionQuery())

    assert [row.ending for row in rows] == [Ending.DONE, Ending.SETTLED, Ending.SETTLED]


async def test_a_silent_loop_is_named_after_three_periods() -> None:
    bench = Bench()
    await bench.run(1.0)
    beats = bench.shell.heartbeats
    now = asyncio.get_running_loop().time()

    assert beats.silent(now + 13.9) == []
    assert beats.silent(now + 15.1) == ["bench"]
