"""Who leads among daemons that share a database and have no other way to agree.

A daemon that only advises may write nothing to a cluster, not even a lease; yet two of them must
not both keep the journal. PostgreSQL's advisory lock belongs to a session: whoever holds it leads,
as long as its session was heard a moment ago, and when a daemon ends its lock is free at once.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from controlplane.adapters.sql.address import Address
from controlplane.adapters.sql.faults import StoreError, translated
from controlplane.adapters.sql.worlds import World
from controlplane.clock import since_boot

LOOKS_S = 2.0
HEARD_WITHIN_S = 10.0  # no answer for so long: the session may be gone, and its lock another's
_LOCK = 4_711_002  # any number that only this product's elections use
_TAKE = text("SELECT pg_try_advisory_lock(:lock, :world)")
_STILL = text("SELECT 1")
_NAME = text("SELECT set_config('application_name', :name, false)")
_HOLDER = text(
    "SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE granted"
    " AND locktype = 'advisory' AND classid = :lock AND objid = :world"
)

log = structlog.stdlib.get_logger(__name__)


class StoreElection:
    """The port `Leadership` over a lock of the database, one for each world."""

    def __init__(
        self,
        where: str | Path,
        world: World,
        identity: str,
        *,
        elapsed: Callable[[], float] = since_boot,
    ) -> None:
        """Stand under this name; PostgreSQL only, for SQLite has one daemon."""
        self.changed: Callable[[], None] = lambda: None  # called when this daemon begins or ends
        self.term = 0
        self._address = Address(where)
        self._key = {"lock": _LOCK, "world": world.id}
        self._identity = identity
        self._elapsed = elapsed
        self._heard_at: float | None = None
        self._holder = ""
        self.trouble = ""  # why there is no election, in one sentence

    @property
    def leading(self) -> bool:
        """Say whether this daemon may write right now."""
        heard = self._heard_at
        return heard is not None and self._elapsed() - heard < HEARD_WITHIN_S

    @property
    def leader(self) -> str:
        """Name the daemon that leads, as far as is known."""
        return self._identity if self.leading else self._holder

    async def run(self) -> NoReturn:
        """Hold a session and the lock, or wait for it."""
        engine = create_async_engine(
            self._address.url, poolclass=NullPool, isolation_level="AUTOCOMMIT"
        )
        try:
            while True:
                await self._session_until_it_fails(engine.connect())
                await asyncio.sleep(LOOKS_S)
        finally:
            self._lose()

    async def _session_until_it_fails(self, connecting: AsyncConnection) -> None:
        try:
            with translated(str(self._address)):
                async with connecting as session:
                    await session.execute(_NAME, {"name": self._identity[:63]})
                    while True:
                        async with asyncio.timeout(HEARD_WITHIN_S):
                            await self._look(session)
                        await asyncio.sleep(LOOKS_S)
        except (StoreError, TimeoutError) as cause:
            trouble = str(cause) or "the store does not answer in time"
            if trouble != self.trouble:
                log.warning("no election", cause=trouble)
            self.trouble = trouble
        self._lose()

    async def _look(self, session: AsyncConnection) -> None:
        asked, held = self._elapsed(), self._heard_at is not None
        if held:
            await session.scalar(_STILL)
        else:
            held = bool(await session.scalar(_TAKE, self._key))
        if held:
            before, self._heard_at = self.leading, asked
            if not before:
                self._won()
        else:
            self._holder = str(await session.scalar(_HOLDER, self._key) or "")
        self.trouble = ""

    def _won(self) -> None:
        self.term += 1
        log.info("this daemon leads", leader=self._identity)
        self.changed()

    def _lose(self) -> None:
        led, self._heard_at, self._holder = self._heard_at is not None, None, ""
        if led:
            log.info("this daemon leads no longer")
            self.changed()


def election_in(where: str, world: World, identity: str) -> StoreElection | None:
    """Give the election of a store that several daemons may share; None where there is but one."""
    if Address(where).kind != "postgresql":
        return None
    return StoreElection(where, world, identity)
