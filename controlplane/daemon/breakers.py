"""What breakers did, written down; and where they stand, so that a restart goes on from there.

A breaker acts first and is written down after: requests wait for no database. Who only follows
writes nothing; each daemon's gateway has breakers of its own.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import NoReturn

import msgspec
import structlog

from controlplane.adapters.sql.store import Store
from controlplane.decide.breakers.breaker import Breaker, State
from controlplane.domain.decisions import DONE, Choice, Ending
from controlplane.domain.quantities import ModelName
from controlplane.loops.reconcile import Shell
from controlplane.ports import UnavailableError

LOOP = "breakers"  # what its choices are called in the journal

log = structlog.stdlib.get_logger(__name__)


class BreakerMemory(msgspec.Struct, frozen=True):
    """Where every breaker stands."""

    states: Mapping[ModelName, Breaker] = {}


def opened_by_failures(states: Mapping[ModelName, Breaker]) -> Mapping[ModelName, str]:
    """Name those that failures opened, and why; who is isolated by hand is so on purpose."""
    return {
        name: f"it opened {breaker.opened} times since it was closed last"
        for name, breaker in states.items()
        if breaker.state in (State.OPEN, State.HALF_OPEN)
    }


class BreakerBook:
    """Journal and memory of one door's breakers."""

    def __init__(self, store: Store, shell: Shell) -> None:
        """Nothing is read or written yet."""
        self._store, self._shell = store, shell
        self._changes: asyncio.Queue[Choice] = asyncio.Queue()
        self.changed: Callable[[Choice], None] = self._changes.put_nowait

    async def remembered(self) -> Mapping[ModelName, Breaker]:
        """Give where they stood; nowhere, where that was written by another version."""
        stored = await self._store.memory.load(LOOP)
        try:
            return {} if stored is None else msgspec.json.decode(stored, type=BreakerMemory).states
        except msgspec.MsgspecError as cause:
            log.warning("memory of another version is set aside", loop=LOOP, cause=str(cause))
            return {}

    async def record(self, states: Callable[[], Mapping[ModelName, Breaker]]) -> NoReturn:
        """Write each change down with its reasons, and where all stand after it."""
        while True:
            choice = await self._changes.get()
            try:
                await self._write(choice)
                if self._shell.leadership.leading:
                    memory = msgspec.json.encode(BreakerMemory(states()))
                    await self._store.memory.save(LOOP, memory)
            except UnavailableError as cause:  # the breaker has acted all the same
                log.warning("a breaker's change is not written down", cause=str(cause))

    async def _write(self, choice: Choice) -> None:
        shell, journal = self._shell, self._store.journal
        now = shell.clock.now()
        for row in await journal.open(LOOP, [choice], now, shell.catalogue_version()):
            shell.metrics.decided(LOOP, choice.decisive)
            if row is not None:
                await journal.close(row, DONE, now)
                shell.metrics.ended(LOOP, Ending.DONE)
