"""Who changed what, newest first."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import insert, select

from controlplane.adapters.sql.database import Database
from controlplane.adapters.sql.tables import audit
from controlplane.ports import AuditEntry


class SqlAuditLog:
    """The audit log; belongs to the store, not to a world."""

    def __init__(self, database: Database) -> None:
        """Append to this database's log."""
        self._database = database

    async def record(self, entry: AuditEntry) -> None:
        """Append one entry."""
        async with self._database.writing() as connection:
            await connection.execute(insert(audit), msgspec.structs.asdict(entry))

    async def entries(self, limit: int = 200) -> Sequence[AuditEntry]:
        """List entries, newest first."""
        names = AuditEntry.__struct_fields__
        query = select(*(audit.c[name] for name in names)).order_by(audit.c.id.desc()).limit(limit)
        async with self._database.reading() as connection:
            found = (await connection.execute(query)).mappings().all()
        return [AuditEntry(**row) for row in found]
