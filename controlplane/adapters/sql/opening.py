"""Opens the store: for the daemon with its world, for a command with the world seen last.

A command must not migrate a store under a daemon of another version; it says what to do instead.
Where nothing was stored yet, those that set something (`create`) make the store, the others say so.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from controlplane.adapters.sql.address import Address
from controlplane.adapters.sql.database import BUSY_TIMEOUT_S, Database
from controlplane.adapters.sql.faults import StoreError
from controlplane.adapters.sql.migrate import check, upgrade
from controlplane.adapters.sql.store import Store, store
from controlplane.adapters.sql.worlds import enter, latest
from controlplane.clock import wall


@asynccontextmanager
async def open_store(
    where: str | Path,
    world: str | None = None,
    *,
    create: bool = False,
    wait_s: float = BUSY_TIMEOUT_S,
) -> AsyncIterator[Store]:
    """Open the store in a folder or at a URL; without a world, see it from the latest one.

    Raises StoreError with one sentence when it cannot be used.
    """
    address = Address(where)
    if address.missing:
        if not create:
            raise StoreError(
                f"there is no store at {address} yet: run controlplane serve, or migrate"
            )
        await asyncio.to_thread(upgrade, address, wait_s)
    # In a thread of ours: a driver's own would outlive a connection that failed, and complain.
    await asyncio.to_thread(check, address, wait_s)
    database = Database(address, wait_s)
    try:
        here = await latest(database) if world is None else await enter(database, world, wall())
        opened = store(database, here)
        try:
            yield opened
        finally:
            await opened.close()
    finally:
        await database.close()
