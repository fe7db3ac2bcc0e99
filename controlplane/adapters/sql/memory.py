"""What loops remember over a restart (law 11)."""

from sqlalchemy import select

from controlplane.adapters.sql.database import Database, upsert
from controlplane.adapters.sql.tables import loop_memory
from controlplane.adapters.sql.worlds import World


class SqlLoopMemory:
    """One JSON value a loop and world; a value that did not change is not written again."""

    def __init__(self, database: Database, world: World) -> None:
        """Nothing is read until a loop asks."""
        self._database = database
        self._world = world
        self._saved: dict[str, bytes] = {}

    async def load(self, loop: str) -> bytes | None:
        """Give what was saved last, if anything."""
        mine = (loop_memory.c.world_id == self._world.id) & (loop_memory.c.loop == loop)
        async with self._database.reading() as connection:
            memory: bytes | None = await connection.scalar(select(loop_memory.c.memory).where(mine))
        # What stands in the database may be another daemon's, and is what a save is compared with.
        self._saved[loop] = memory or b""
        return memory

    async def save(self, loop: str, memory: bytes) -> None:
        """Replace it."""
        if self._saved.get(loop) == memory:
            return
        row = {"world_id": self._world.id, "loop": loop, "memory": memory}
        # Not synced: a power cut takes the last seconds, the next cycle finds out by looking.
        async with self._database.writing(durable=False) as connection:
            saved = self._database.insert(loop_memory).values(row)
            await connection.execute(upsert(saved, "memory"))
        self._saved[loop] = memory
