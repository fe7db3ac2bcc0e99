"""The worlds a store has seen. An embedded world is new with every process, a cluster stays."""

import msgspec
from sqlalchemy import select, update

from controlplane.adapters.sql.database import Database
from controlplane.adapters.sql.tables import decisions, worlds
from controlplane.domain.decisions import Ending
from controlplane.domain.quantities import Instant


class World(msgspec.Struct, frozen=True):
    """A world's number in this store, and its name."""

    id: int
    name: str


NOWHERE = World(0, "")  # of a store that has seen no world yet; no row carries it


async def enter(database: Database, name: str, now: Instant) -> World:
    """Give the world of this name, noting that it is there."""
    async with database.writing() as connection:
        await connection.execute(
            database.insert(worlds)
            .values(name=name, seen_at=now)
            .on_conflict_do_nothing(index_elements=["name"])
        )
        await connection.execute(update(worlds).where(worlds.c.name == name).values(seen_at=now))
        number = await connection.scalar(select(worlds.c.id).where(worlds.c.name == name))
    return World(int(number or 0), name)


async def bury(database: Database, world: World, prefix: str, now: Instant) -> None:
    """Settle what was left open in worlds that ended with their process: nobody will look there."""
    dead = select(worlds.c.id).where(
        worlds.c.name.startswith(prefix, autoescape=True), worlds.c.id != world.id
    )
    async with database.writing(durable=False) as connection:
        await connection.execute(
            update(decisions)
            .where(decisions.c.ending == Ending.OPEN, decisions.c.world_id.in_(dead))
            .values(ending=Ending.SETTLED, note="its world has ended", settled_at=now)
        )


async def latest(database: Database) -> World:
    """Give the world that was opened last, for whoever looks from outside."""
    newest = select(worlds.c.id, worlds.c.name).order_by(
        worlds.c.seen_at.desc(), worlds.c.id.desc()
    )
    async with database.reading() as connection:
        row = (await connection.execute(newest.limit(1))).first()
    return NOWHERE if row is None else World(row.id, row.name)
