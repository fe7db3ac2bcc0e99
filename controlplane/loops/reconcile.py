"""The one loop: observe, decide, write down, act. Every other file here is an instance of it.

There is no retry inside a cycle: the next one looks again. There are two ways for a cycle to fail:
the other side is `UnavailableError` (expected: one warning when it starts, one line when it is
over), or anything else, which is a bug: logged with its traceback and counted. Either costs one
cycle, never the daemon.

A choice is journaled `open` before it is acted on and closed with what happened. A crash or a cycle
that failed in between leaves an open row, which the next start or cycle settles by looking:
decisions are derived from what is seen, so what was not done is simply decided again (laws 3, 4).

Of several daemons one leads. The others look and show, with the memory that the leader stored, and
write nothing. Whoever comes to lead begins as after a restart; who stops leading in the middle of a
cycle stops there, and leaves what is open to the next leader.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NoReturn, TypeVar

import msgspec
import structlog

from controlplane.clock import Clock, heard, stopwatch
from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.loops.in_memory import SoleLeader
from controlplane.ports import Journal, Leadership, LoopMemory, UnavailableError
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.metrics import Metrics

S = TypeVar("S")
M = TypeVar("M", bound=msgspec.Struct)

CYCLE_LIMIT_S = 30.0  # of real time
MEMORY_EVERY_S = 15.0  # of real time, where nothing was decided
OFFLOAD_ABOVE = 100  # subjects; a decision takes microseconds, a thousand of them block the loop

log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(Generic[S, M]):
    """An instance: what it looks at, how it decides, what it does."""

    name: str
    every_s: float  # of the world's time
    observe: Callable[[], Awaitable[S]]
    decide: Callable[[S, M], tuple[Sequence[Choice], M]]
    act: Callable[[Choice], Awaitable[Outcome]]
    fresh: M
    restore: Callable[[M], None] = lambda _: None  # put what is remembered in force at the start
    seen: Callable[[S, Sequence[Choice], M], None] = lambda _s, _c, _m: None  # for charts, metrics
    subjects: Callable[[], int] = lambda: 0


@dataclass(slots=True)
class Shell:
    """What all loops share."""

    clock: Clock
    journal: Journal
    memory: LoopMemory
    heartbeats: Heartbeats
    metrics: Metrics
    catalogue_version: Callable[[], int]
    leadership: Leadership = field(default_factory=SoleLeader)
    told: Callable[[Choice, Outcome], None] = lambda _choice, _outcome: None  # of what was done
    wakes: dict[str, asyncio.Event] = field(default_factory=dict)

    def wake(self, *loops: str) -> None:
        """Let these loops (all, when none is named) look now instead of at their next period."""
        for name in loops or tuple(self.wakes):
            if name in self.wakes:
                self.wakes[name].set()


async def reconcile(loop: Loop[S, M], shell: Shell) -> NoReturn:
    """Run an instance for ever."""
    structlog.contextvars.bind_contextvars(loop=loop.name)
    wake = shell.wakes.setdefault(loop.name, asyncio.Event())
    period_s = loop.every_s / shell.clock.rate
    shell.heartbeats.expect(loop.name, period_s, asyncio.get_running_loop().time())
    turn, failing = Turn(loop, shell), ""
    while True:
        began, failure = stopwatch(), ""
        wake.clear()
        due = shell.clock.now() + loop.every_s
        try:
            async with asyncio.timeout(CYCLE_LIMIT_S):
                await turn.take(failed=bool(failing))
        except (UnavailableError, TimeoutError) as cause:
            failure = str(cause) or type(cause).__name__
        except Exception as cause:  # a bug costs one cycle, never the daemon
            failure = f"{type(cause).__name__}: {cause}"
            log.exception("cycle failed")
        _note(loop, shell, stopwatch() - began, failure)
        if bool(failure) != bool(failing):
            log.warning("cycles fail" if failure else "cycles run again", cause=failure or failing)
        failing = failure
        await _until(due, wake, shell.clock)


class Turn(Generic[S, M]):
    """What a loop does when it is due: as a leader a cycle, else it looks and shows."""

    def __init__(self, loop: Loop[S, M], shell: Shell) -> None:
        """Nothing is remembered yet."""
        self._loop = loop
        self._shell = shell
        self._memory = loop.fresh
        self._term: int | None = None  # whose memory it is: that of this reign
        self._saved_at = stopwatch()

    async def take(self, *, failed: bool) -> None:
        """Take one; `failed`: the one before may have left something open."""
        if not self._shell.leadership.leading:
            self._term = None
            await watch(self._loop, self._shell)
            return
        term = self._shell.leadership.term
        if term != self._term:
            self._memory = await start(self._loop, self._shell)
            self._term, self._saved_at = term, stopwatch()
        elif failed:
            await settle(self._loop.name, self._shell)
        save = stopwatch() - self._saved_at >= MEMORY_EVERY_S
        self._memory, kept = await cycle(self._loop, self._shell, self._memory, save=save)
        self._saved_at = stopwatch() if kept else self._saved_at


async def start(loop: Loop[S, M], shell: Shell) -> M:
    """Read the memory, put it in force, and settle what a crash or another leader left open."""
    memory = await remembered(loop, shell)
    await settle(loop.name, shell)
    return memory


async def watch(loop: Loop[S, M], shell: Shell) -> None:
    """Look and show, with what the leader remembers."""
    memory = await remembered(loop, shell)
    loop.seen(await loop.observe(), (), memory)


async def remembered(loop: Loop[S, M], shell: Shell) -> M:
    """Read the memory from the store and put it in force."""
    stored = await shell.memory.load(loop.name)
    memory = loop.fresh
    if stored is not None:
        try:
            memory = msgspec.json.decode(stored, type=type(loop.fresh))
        except msgspec.MsgspecError as cause:
            log.warning("memory of another version is set aside", cause=str(cause))
    loop.restore(memory)
    return memory


async def settle(name: str, shell: Shell) -> None:
    """Close what was written down and perhaps not done: from here on it is decided anew."""
    settled = Outcome(Ending.SETTLED, "left open, perhaps not done; decided anew from what is")
    for row in await shell.journal.unsettled(name):
        await shell.journal.close(row.id, settled, shell.clock.now())


async def cycle(loop: Loop[S, M], shell: Shell, memory: M, *, save: bool = True) -> tuple[M, bool]:
    """Run one cycle; give the new memory, and whether it was stored."""
    term = shell.leadership.term
    seen = await loop.observe()
    if loop.subjects() > OFFLOAD_ABOVE:
        choices, memory = await asyncio.to_thread(loop.decide, seen, memory)
    else:
        choices, memory = loop.decide(seen, memory)
    at = shell.clock.now()
    acting = [choice for choice in choices if choice.actions]
    if acting or save:  # before anything is done, so that a restart knows what was decided
        fence(shell, term)
        await shell.memory.save(loop.name, msgspec.json.encode(memory))
    fence(shell, term)
    rows = await shell.journal.open(loop.name, choices, at, shell.catalogue_version())
    for row, choice in zip(rows, choices, strict=True):
        if choice.actions or row is not None:
            shell.metrics.decided(loop.name, choice.decisive)
        fence(shell, term)
        outcome = await loop.act(choice) if choice.actions else Outcome(Ending.DONE)
        if choice.actions:
            shell.told(choice, outcome)
        if row is not None:
            fence(shell, term)
            await shell.journal.close(row, outcome, shell.clock.now())
            shell.metrics.ended(loop.name, outcome.ending)
    loop.seen(seen, choices, memory)
    return memory, bool(acting) or save


def fence(shell: Shell, term: int) -> None:
    """Let nobody write whose reign is over, however long ago this cycle began."""
    if not shell.leadership.leading or shell.leadership.term != term:
        raise UnavailableError("this daemon leads no longer")


def _note(loop: Loop[S, M], shell: Shell, took_s: float, failure: str) -> None:
    now = asyncio.get_running_loop().time()
    shell.heartbeats.beat(loop.name, loop.every_s / shell.clock.rate, now, failure)
    shell.metrics.cycle(loop.name, took_s, failed=bool(failure))


async def _until(due: float, wake: asyncio.Event, clock: Clock) -> None:
    """Sleep until the next period, or until somebody says look now."""
    left = (due - clock.now()) / clock.rate
    if left <= 0:
        await asyncio.sleep(0)
        return
    await heard(wake, left)
