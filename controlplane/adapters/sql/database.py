"""One database: how it is opened, and the two ways to use it, reading and writing.

SQLite has one writer at a time. A transaction that reads first and writes later is refused at
once when somebody wrote in between, however long it would be willing to wait; so a writing
transaction says so when it begins (BEGIN IMMEDIATE) and waits for its turn. Writers of this process
queue up before: SQLite's own waiting is a sleep that anybody may overtake.

A commit survives the death of this process in any case. A `durable` one also survives a power cut
(the log is synced): what was decided, billed or set by people. The rest, a loop's memory and
counts of repeated holds, is worth no sync a cycle: it is synced with the next durable commit.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Insert, Table, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from controlplane.adapters.sql.address import Address
from controlplane.adapters.sql.faults import StoreError, translated

BUSY_TIMEOUT_S = 5.0
_CONNECTIONS = 4  # each is a thread with SQLite
_WRITES, _DURABLE = "controlplane_writes", "controlplane_durable"
WRITING = {_WRITES: True, _DURABLE: True}  # options of a connection that is going to write


class Database:
    """An open database."""

    def __init__(self, address: Address, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        """Prepare the connections; none is made yet."""
        self.shown = str(address)
        self.kind = address.kind
        self._turn: AbstractAsyncContextManager[None] = (
            asyncio.Lock() if self.kind == "sqlite" else nullcontext()
        )
        try:
            self._engine: AsyncEngine = create_async_engine(
                address.url, pool_size=_CONNECTIONS, max_overflow=0, pool_use_lifo=True
            )
        except ImportError as error:
            raise StoreError(
                f"the store {self.shown} needs the package {error.name}: "
                "install controlplane[postgresql]"
            ) from error
        if self.kind == "sqlite":
            tune_sqlite(self._engine.sync_engine, busy_timeout_s)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection that sees one state of the database."""
        with translated(self.shown):
            async with self._engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self, *, durable: bool = True) -> AsyncIterator[AsyncConnection]:
        """Give a connection whose changes are committed at the end, or not at all."""
        with translated(self.shown):
            async with self._turn, self._engine.connect() as connection:
                await connection.execution_options(**{**WRITING, _DURABLE: durable})
                async with connection.begin():
                    yield connection

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """Give an INSERT that knows ON CONFLICT, which both databases spell alike."""
        return postgresql.insert(table) if self.kind == "postgresql" else sqlite.insert(table)

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()


def tune_sqlite(engine: Any, busy_timeout_s: float) -> None:
    """Let an engine's SQLite connections wait, keep foreign keys and begin as told."""

    @event.listens_for(engine, "connect")
    def _connected(connection: DBAPIConnection, _record: object) -> None:
        connection.isolation_level = None  # the driver must not begin transactions of its own
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {round(busy_timeout_s * 1000)}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get(_WRITES):
            sync = "FULL" if options.get(_DURABLE) else "NORMAL"
            connection.exec_driver_sql(f"PRAGMA synchronous = {sync}")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("BEGIN")


def upsert(insert: postgresql.Insert | sqlite.Insert, *changed: str) -> Insert:
    """Let an INSERT replace these columns where the row exists already."""
    keys = [column.name for column in insert.table.primary_key]
    news: Mapping[str, Any] = {name: insert.excluded[name] for name in changed}
    return insert.on_conflict_do_update(index_elements=keys, set_=news)


def chunks(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Cut rows into lists of at most `size`, so that the event loop breathes between them."""
    remaining = iter(rows)
    while chunk := list(islice(remaining, size)):
        yield chunk
