"""Everything the store offers, opened together and closed together."""

from dataclasses import dataclass

from controlplane.adapters.sql.audit import SqlAuditLog
from controlplane.adapters.sql.catalogues import SqlCatalogues
from controlplane.adapters.sql.database import Database
from controlplane.adapters.sql.decisions import SqlDecisions
from controlplane.adapters.sql.gateway_keys import SqlGatewayKeys
from controlplane.adapters.sql.journal import SqlJournal
from controlplane.adapters.sql.ledger import SqlLedger
from controlplane.adapters.sql.memory import SqlLoopMemory
from controlplane.adapters.sql.overrides import SqlOverrides
from controlplane.adapters.sql.retention import Pruned, prune
from controlplane.adapters.sql.tokens import SqlTokens
from controlplane.adapters.sql.worlds import World, bury
from controlplane.clock import wall
from controlplane.domain.quantities import Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """One database, seen from one world."""

    database: Database
    world: World
    journal: SqlJournal
    decisions: SqlDecisions
    memory: SqlLoopMemory
    ledger: SqlLedger
    overrides: SqlOverrides
    catalogues: SqlCatalogues
    tokens: SqlTokens
    gateway_keys: SqlGatewayKeys
    audit: SqlAuditLog

    async def prune(self, now: Instant, today: Instant | None = None) -> Pruned:
        """Delete what is older than it is kept, `now` by the world's clock; call it once a day."""
        return await prune(self.database, self.world, now, wall() if today is None else today)

    async def bury(self, prefix: str) -> None:
        """Settle what worlds of that kind, which end with their process, left open."""
        await bury(self.database, self.world, prefix, wall())

    async def close(self) -> None:
        """Write what is late and close the connections, also when the writing fails."""
        try:
            await self.journal.aclose()
        finally:
            await self.database.close()


def store(database: Database, world: World) -> Store:
    """Give the store over an open database."""
    journal = SqlJournal(database, world)
    return Store(
        database=database,
        world=world,
        journal=journal,
        decisions=SqlDecisions(database, world, journal),
        memory=SqlLoopMemory(database, world),
        ledger=SqlLedger(database, world),
        overrides=SqlOverrides(database),
        catalogues=SqlCatalogues(database),
        tokens=SqlTokens(database),
        gateway_keys=SqlGatewayKeys(database),
        audit=SqlAuditLog(database),
    )
