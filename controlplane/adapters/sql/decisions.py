"""The journal, to be read: newest first, filtered by the database."""

from collections.abc import Callable, Sequence
from operator import eq, ge, lt
from typing import Any

from sqlalchemy import ColumnElement, Select, select

from controlplane.adapters.sql.codec import decision_row
from controlplane.adapters.sql.database import Database
from controlplane.adapters.sql.journal import SqlJournal
from controlplane.adapters.sql.tables import decisions, worlds
from controlplane.adapters.sql.worlds import World
from controlplane.ports import DecisionQuery, DecisionRow


class SqlDecisions:
    """Lists one world's decisions; one decision is found by its number whatever its world."""

    def __init__(self, database: Database, world: World, journal: SqlJournal) -> None:
        """The journal knows what the database does not know yet."""
        self._database = database
        self._world = world
        self._journal = journal

    async def decisions(self, query: DecisionQuery) -> Sequence[DecisionRow]:
        """List decisions, newest first."""
        listed = _filtered(query).where(decisions.c.world_id == self._world.id)
        return await self._rows(listed.order_by(decisions.c.id.desc()).limit(query.limit))

    async def decision(self, row: int) -> DecisionRow | None:
        """Give one decision."""
        found = await self._rows(_all().where(decisions.c.id == row))
        return found[0] if found else None

    async def _rows(self, query: Select[Any]) -> list[DecisionRow]:
        async with self._database.reading() as connection:
            found = (await connection.execute(query)).mappings().all()
        return [self._journal.newest(decision_row(row)) for row in found]


def _all() -> Select[Any]:
    return select(decisions, worlds.c.name.label("world")).join(worlds)


def _filtered(query: DecisionQuery) -> Select[Any]:
    column = decisions.c
    wanted: tuple[tuple[Any, Any, Callable[[Any, Any], ColumnElement[bool]]], ...] = (
        (column.subject, query.subject, eq),
        (column.loop, query.loop, eq),
        (column.decisive, query.code, eq),
        (column.id, query.before_id, lt),
        (column.at, query.since, ge),
        (column.at, query.until, lt),
    )
    narrowed = _all().where(*(holds(c, given) for c, given, holds in wanted if given is not None))
    return narrowed.where(column.target != column.current) if query.moved_only else narrowed
