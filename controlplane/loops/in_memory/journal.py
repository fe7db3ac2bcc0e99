"""The journal in memory, to be written and read.

Choices are kept as they are and become rows when somebody looks: a virtual day decides 17,280 times
a model and almost nobody asks. The oldest rows go when there are too many.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.domain.differences import digest
from controlplane.domain.quantities import Instant
from controlplane.domain.repeats import Entry, Written, entry, written
from controlplane.ports import DecisionQuery, DecisionRow

KEPT_ROWS = 100_000
_encode = msgspec.json.Encoder().encode


class _Line(msgspec.Struct):
    """A row that is still being counted and closed."""

    id: int
    loop: str
    at: Instant
    catalogue_version: int
    choice: Choice
    said: Written
    ending: Ending
    settled_at: Instant | None
    note: str = ""
    repeats: int = 0


class MemoryJournal:
    """Decisions of one world: the ports `Journal` and `DecisionReads`."""

    def __init__(self, world: str = "memory", kept: int = KEPT_ROWS) -> None:
        """Start empty and keep at most so many rows."""
        self._world = world
        self._kept = kept
        self._rows: dict[int, _Line] = {}  # by number, hence oldest first
        self._newest: dict[tuple[str, str], _Line] = {}
        self._numbers = 0

    async def open(
        self, loop: str, choices: Sequence[Choice], at: Instant, catalogue_version: int
    ) -> Sequence[int | None]:
        """Write the choices down; None where a row only counts one more repeat of a hold."""
        # All or nothing, as a transaction is: a choice without a reason is found before.
        for choice in choices:
            if not choice.trail:
                entry(choice, at, None)
        return [self._enter(loop, choice, at, catalogue_version) for choice in choices]

    async def close(self, row: int, outcome: Outcome, at: Instant) -> None:
        """Say what happened."""
        line = self._rows.get(row)
        if line is not None:
            line.ending, line.note, line.settled_at = outcome.ending, outcome.note, at

    async def unsettled(self, loop: str) -> Sequence[DecisionRow]:
        """Give the rows a crash left open, oldest first."""
        return [
            self._row(line)
            for line in self._rows.values()
            if line.loop == loop and line.ending is Ending.OPEN
        ]

    async def decisions(self, query: DecisionQuery) -> Sequence[DecisionRow]:
        """List decisions, newest first."""
        return [self._row(line) for line in islice(self._matching(query), query.limit)]

    async def decision(self, row: int) -> DecisionRow | None:
        """Give one decision."""
        line = self._rows.get(row)
        return None if line is None else self._row(line)

    def _enter(self, loop: str, choice: Choice, at: Instant, version: int) -> int | None:
        place = loop, choice.subject
        line = self._newest.get(place)
        kind = entry(choice, at, line.said if line else None)
        if kind is Entry.NONE:
            return None
        if line is None or kind is Entry.NEW:
            line = self._newest[place] = self._write(loop, choice, at, version)
            return line.id
        line.said = line.said.again(at)
        line.repeats += 1
        if kind is Entry.HELD:
            return None
        line.ending, line.note, line.settled_at = Ending.OPEN, "", None
        return line.id

    def _write(self, loop: str, choice: Choice, at: Instant, version: int) -> _Line:
        self._numbers += 1
        line = self._rows[self._numbers] = _Line(
            id=self._numbers,
            loop=loop,
            at=at,
            catalogue_version=version,
            choice=choice,
            said=written(choice, at),
            # A hold has nothing to be done, so it is done.
            ending=Ending.OPEN if choice.actions else Ending.DONE,
            settled_at=None if choice.actions else at,
        )
        if len(self._rows) > self._kept:
            del self._rows[next(iter(self._rows))]
        return line

    def _matching(self, query: DecisionQuery) -> Iterator[_Line]:
        for line in reversed(self._rows.values()):
            if (
                query.subject in (None, line.choice.subject)
                and query.loop in (None, line.loop)
                and query.code in (None, line.said.decisive)
                and (query.before_id is None or line.id < query.before_id)
                and (query.since is None or line.at >= query.since)
                and (query.until is None or line.at < query.until)
                and (not query.moved_only or line.choice.target != line.choice.current)
            ):
                yield line

    def _row(self, line: _Line) -> DecisionRow:
        choice = line.choice
        seen = _encode(choice.seen)
        return DecisionRow(
            id=line.id,
            at=line.at,
            loop=line.loop,
            subject=choice.subject,
            current=choice.current,
            target=choice.target,
            decisive=line.said.decisive,
            trail=choice.trail,
            refused=choice.refused,
            actions=choice.actions,
            ending=line.ending,
            note=line.note,
            settled_at=line.settled_at,
            repeats=line.repeats,
            last_at=line.said.last_at,
            catalogue_version=line.catalogue_version,
            world=self._world,
            seen=seen,
            digest=digest(seen),
        )
