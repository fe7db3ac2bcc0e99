"""How long what is kept, and the daily tidying.

What is old is found while reading and deleted in small transactions, so that a loop that wants to
write never waits for long. Holds, most of the rows, go sooner than what was done. The newest
decision of every subject stays whatever its age, as long as its world does: it is what the next
one is compared with. A world that was not opened for as long as decisions are kept goes with its
memory; its bills stay their time. SQLite reuses the pages that become free, the file does not
shrink.
"""

import msgspec
from sqlalchemy import ColumnElement, Delete, delete, func, select, update

from controlplane.adapters.sql.database import Database
from controlplane.adapters.sql.tables import (
    NOTHING_DONE,
    audit,
    billed,
    decisions,
    ledger,
    loop_memory,
    worlds,
)
from controlplane.adapters.sql.worlds import World
from controlplane.domain.quantities import Instant

DAY_S = 86_400.0
_ROWS_A_TRANSACTION = 2_000
_LEDGER_STRETCH_S = 3_600.0


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How many days things are kept."""

    decisions: float = 90
    holds: float = 14  # decisions that changed nothing and did nothing
    ledger: float = 396  # thirteen months: last year's month stands beside this year's
    audit: float = 365


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows were deleted."""

    decisions: int
    ledger: int
    audit: int
    worlds: int


async def prune(
    database: Database, world: World, now: Instant, today: Instant, keep: Retention | None = None
) -> Pruned:
    """Delete what is older than it is kept; `world` is the one that lives.

    `now` is its time, which may run fast; people, and the worlds they open, live by `today`.
    """
    keep = keep or Retention()
    gone, forgotten = now - keep.decisions * DAY_S, today - keep.decisions * DAY_S
    async with database.writing(durable=False) as connection:
        mine = worlds.c.id == world.id
        await connection.execute(update(worlds).where(mine).values(seen_at=today))
    return Pruned(
        decisions=await _prune_decisions(database, forgotten, decisions.c.at < gone)
        + await _prune_decisions(
            database, forgotten, (decisions.c.at < now - keep.holds * DAY_S) & NOTHING_DONE
        ),
        ledger=await _prune_ledger(database, now - keep.ledger * DAY_S),
        audit=await _in_parts(
            database,
            delete(audit).where(
                audit.c.id.in_(
                    select(audit.c.id)
                    .where(audit.c.at < today - keep.audit * DAY_S)
                    .limit(_ROWS_A_TRANSACTION)
                )
            ),
        ),
        worlds=await _prune_worlds(database, forgotten),
    )


async def _prune_decisions(
    database: Database, world_gone: Instant, old: ColumnElement[bool]
) -> int:
    alive = select(worlds.c.id).where(worlds.c.seen_at >= world_gone)
    newest = (
        select(func.max(decisions.c.id))
        .where(decisions.c.world_id.in_(alive))
        .group_by(decisions.c.world_id, decisions.c.loop, decisions.c.subject)
    )
    rows = select(decisions.c.id).where(old, decisions.c.id.not_in(newest))
    deleted = 0
    while True:
        async with database.reading() as connection:
            numbers = (await connection.scalars(rows.limit(_ROWS_A_TRANSACTION))).all()
        if not numbers:
            return deleted
        async with database.writing(durable=False) as connection:
            await connection.execute(delete(decisions).where(decisions.c.id.in_(numbers)))
        deleted += len(numbers)


async def _prune_ledger(database: Database, before: Instant) -> int:
    deleted = 0
    while True:
        async with database.writing(durable=False) as connection:
            oldest: Instant | None = await connection.scalar(
                select(func.min(ledger.c.start)).where(ledger.c.start < before)
            )
            if oldest is None:
                return deleted
            until = min(oldest + _LEDGER_STRETCH_S, before)
            gone = await connection.execute(delete(ledger).where(ledger.c.start < until))
            deleted += gone.rowcount


async def _prune_worlds(database: Database, before: Instant) -> int:
    empty = (
        worlds.c.seen_at < before,
        worlds.c.id.not_in(select(ledger.c.world_id)),
        worlds.c.id.not_in(select(decisions.c.world_id)),
    )
    async with database.writing(durable=False) as connection:
        dead = select(worlds.c.id).where(worlds.c.seen_at < before)
        await connection.execute(delete(loop_memory).where(loop_memory.c.world_id.in_(dead)))
        forgotten = select(worlds.c.id).where(*empty)
        await connection.execute(delete(billed).where(billed.c.world_id.in_(forgotten)))
        gone = await connection.execute(delete(worlds).where(*empty))
    return gone.rowcount


async def _in_parts(database: Database, part: Delete) -> int:
    deleted = 0
    while True:
        async with database.writing(durable=False) as connection:
            gone = (await connection.execute(part)).rowcount
        deleted += gone
        if not gone:
            return deleted
