"""The journal on a database: decisions, written before they are done (law 3).

`open` returns when the rows are committed and synced; it writes all of a cycle's rows in one
transaction. What may be late is late: repeats of holds are counted in memory and written every
15 s, endings a second after they are known, both with the next cycle's rows if those come first.
A crash loses at most that: a row whose ending was lost is found open and settled by looking.

Work that has begun is finished even if the caller is cancelled, so that what is in the database
and what is in memory never part.

Where several daemons share the database only the one that leads may write. What was late when it
lost the lead is dropped: by then another has settled those rows and counts on them.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Row, bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from controlplane.adapters.sql.codec import code_of, columns, decision_row, decode_actions
from controlplane.adapters.sql.database import Database, chunks
from controlplane.adapters.sql.faults import StoreError
from controlplane.adapters.sql.lines import Draft, Line, Lines
from controlplane.adapters.sql.tables import decisions
from controlplane.adapters.sql.worlds import World
from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.domain.quantities import Instant
from controlplane.domain.repeats import Written
from controlplane.ports import DecisionRow

COUNT_EVERY_S = 15.0
CLOSE_WITHIN_S = 1.0
_ROWS_A_STATEMENT = 100  # about 5 ms of the event loop

T = TypeVar("T")

# In whatever order: asked for ours, SQLAlchemy would send SQLite row by row, ten times as slow.
_INSERT = insert(decisions).returning(decisions.c.id, decisions.c.subject)
_CLOSE = (
    update(decisions)
    .where(decisions.c.id == bindparam("row"))
    .values(ending=bindparam("ended"), note=bindparam("noted"), settled_at=bindparam("when"))
)
_COUNT = (
    update(decisions)
    .where(decisions.c.id == bindparam("row"))
    .values(repeats=bindparam("times"), last_at=bindparam("when"))
)
_REOPEN = _COUNT.values(ending=Ending.OPEN, note="", settled_at=None)


class SqlJournal:
    """Decisions of one world."""

    def __init__(self, database: Database, world: World) -> None:
        """Nothing is read until a loop first writes."""
        self.may_write: Callable[[], bool] = lambda: True  # the fence: who leads may
        self._database = database
        self._world = world
        self._lines = Lines()
        self._endings: dict[int, tuple[Outcome, Instant]] = {}
        self._counted_at = float("-inf")  # by the event loop's clock
        self._writing = asyncio.Lock()
        self._begun: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def open(
        self, loop: str, choices: Sequence[Choice], at: Instant, catalogue_version: int
    ) -> Sequence[int | None]:
        """Write the choices down; None where a row only counts one more repeat of a hold."""
        return await self._to_the_end(self._open(loop, choices, at, catalogue_version))

    async def close(self, row: int, outcome: Outcome, at: Instant) -> None:
        """Say what happened."""
        self._endings[row] = (outcome, at)
        if self._timer is None:
            running = asyncio.get_running_loop()
            self._timer = running.call_later(CLOSE_WITHIN_S, self._write_late)

    async def unsettled(self, loop: str) -> Sequence[DecisionRow]:
        """Give the rows a crash or another daemon left open, oldest first."""
        await self._to_the_end(self._read_anew())
        query = (
            select(decisions)
            .where(decisions.c.world_id == self._world.id, decisions.c.loop == loop)
            .where(decisions.c.ending == Ending.OPEN)
            .order_by(decisions.c.id)
        )
        async with self._database.reading() as connection:
            found = (await connection.execute(query)).mappings().all()
        return [decision_row({**row, "world": self._world.name}) for row in found]

    async def flush(self) -> None:
        """Write what is late: endings and counts."""
        await self._to_the_end(self._flush())

    async def aclose(self) -> None:
        """Finish what has begun and write what is late."""
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*self._begun, return_exceptions=True)
        await self.flush()

    def newest(self, row: DecisionRow) -> DecisionRow:
        """Give a row as it is by now; the database may be some seconds behind."""
        line = self._lines.uncounted.get(row.id)
        if line is not None:
            row = msgspec.structs.replace(row, repeats=line.repeats, last_at=line.said.last_at)
        if row.id in self._endings:
            outcome, at = self._endings[row.id]
            row = msgspec.structs.replace(
                row, ending=outcome.ending, note=outcome.note, settled_at=at
            )
        return row

    async def _open(
        self, loop: str, choices: Sequence[Choice], at: Instant, version: int
    ) -> list[int | None]:
        async with self._writing:
            if not self.may_write():
                raise StoreError("the journal is another daemon's to write: this one does not lead")
            if loop not in self._lines.loaded:
                await self._load(loop)
            draft = Draft(self._lines, loop, choices, at)
            numbers: list[int] = []
            if draft.writes:
                row = {"world_id": self._world.id, "loop": loop, "at": at, "last_at": at}
                async with self._database.writing() as connection:
                    endings = await self._write_endings(connection)
                    numbers = await _insert(
                        connection, draft.new, {**row, "catalogue_version": version}
                    )
                    await _count(connection, _REOPEN, list(draft.reopened.values()))
                self._forget(endings)
            self._lines.take(draft, numbers)
        if asyncio.get_running_loop().time() - self._counted_at >= COUNT_EVERY_S:
            await self._flush()
        return draft.numbered(numbers)

    async def _read_anew(self) -> None:
        """Write what is late, then trust only the database: another may have led since."""
        async with self._writing:
            await self._write_all_late()
            self._lines.forget()

    async def _flush(self) -> None:
        async with self._writing:
            await self._write_all_late()

    async def _write_all_late(self) -> None:
        if not self.may_write():
            self._endings.clear()
            self._lines.forget()
            return
        lines = list(self._lines.uncounted.values())
        if lines or self._endings:
            async with self._database.writing(durable=False) as connection:
                endings = await self._write_endings(connection)
                await _count(connection, _COUNT, lines)
            self._forget(endings)
            self._lines.counted(lines)
        self._counted_at = asyncio.get_running_loop().time()

    async def _write_endings(
        self, connection: AsyncConnection
    ) -> dict[int, tuple[Outcome, Instant]]:
        endings = dict(self._endings)
        for chunk in chunks(endings.items(), _ROWS_A_STATEMENT):
            said = [
                {"row": row, "ended": outcome.ending, "noted": outcome.note, "when": at}
                for row, (outcome, at) in chunk
            ]
            await connection.execute(_CLOSE, said)
        return endings

    def _forget(self, endings: dict[int, tuple[Outcome, Instant]]) -> None:
        for row, ending in endings.items():
            if self._endings.get(row) is ending:
                del self._endings[row]

    async def _load(self, loop: str) -> None:
        here = (decisions.c.world_id == self._world.id, decisions.c.loop == loop)
        newest = select(func.max(decisions.c.id)).where(*here).group_by(decisions.c.subject)
        names = ("id", "subject", "target", "decisive", "actions", "last_at", "repeats")
        query = select(*(decisions.c[name] for name in names)).where(decisions.c.id.in_(newest))
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        self._lines.load(loop, [(row.subject, _line(row)) for row in rows])

    def _write_late(self) -> None:
        self._timer = None
        task = asyncio.get_running_loop().create_task(self._flush_or_later())
        self._begun.add(task)
        task.add_done_callback(self._begun.discard)

    async def _flush_or_later(self) -> None:
        with suppress(StoreError):  # nothing is lost, and the next `open` meets the same fault
            await self._flush()

    async def _to_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.get_running_loop().create_task(work)
        self._begun.add(task)
        task.add_done_callback(self._begun.discard)
        return await asyncio.shield(task)


async def _insert(
    connection: AsyncConnection, choices: Sequence[Choice], row: dict[str, Any]
) -> list[int]:
    numbers: list[int] = []
    for chunk in chunks(choices, _ROWS_A_STATEMENT):
        # A hold has nothing to be done, so it is done; what acts stays open until it has acted.
        rows = [
            {
                **row,
                **columns(choice),
                "ending": Ending.OPEN if choice.actions else Ending.DONE,
                "settled_at": None if choice.actions else row["at"],
                "note": "",
                "repeats": 0,
            }
            for choice in chunk
        ]
        numbered = (await connection.execute(_INSERT, rows)).all()
        numbers.extend(_in_order([choice.subject for choice in chunk], numbered))
    return numbers


def _in_order(subjects: Sequence[str], numbered: Iterable[Row[Any]]) -> list[int]:
    given: dict[str, deque[int]] = {}
    for number, subject in sorted((row.id, row.subject) for row in numbered):
        given.setdefault(subject, deque()).append(number)
    return [given[subject].popleft() for subject in subjects]


async def _count(connection: AsyncConnection, statement: Any, lines: Sequence[Line]) -> None:
    for chunk in chunks(lines, _ROWS_A_STATEMENT):
        counts = [
            {"row": line.id, "times": line.repeats, "when": line.said.last_at} for line in chunk
        ]
        await connection.execute(statement, counts)


def _line(row: Any) -> Line:
    actions = decode_actions(row.actions)
    said = Written(row.target, code_of(row.decisive), actions, row.last_at)
    return Line(row.id, said, row.repeats)
