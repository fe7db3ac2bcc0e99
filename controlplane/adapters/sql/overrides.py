"""Pauses and pins. Setting one and noting who did it is one transaction."""

import msgspec
from sqlalchemy import delete, insert, select

from controlplane.adapters.sql.database import Database, upsert
from controlplane.adapters.sql.tables import audit, overrides
from controlplane.domain.overrides import Override, Overrides, change
from controlplane.ports import AuditEntry


class SqlOverrides:
    """What people decided by hand; belongs to the store, not to a world."""

    def __init__(self, database: Database) -> None:
        """Keep them in this database."""
        self._database = database

    async def overrides(self) -> Overrides:
        """Give all in force, by subject."""
        async with self._database.reading() as connection:
            found = (await connection.execute(select(overrides))).mappings().all()
        return {row["subject"]: Override(**row) for row in found}

    async def put(self, override: Override) -> None:
        """Set one; an override that neither pauses nor pins is removed. Audited."""
        mine = overrides.c.subject == override.subject
        row = msgspec.structs.asdict(override)
        async with self._database.writing() as connection:
            found = (await connection.execute(select(overrides).where(mine))).mappings().first()
            before = None if found is None else Override(**found)
            if override.paused or override.pinned is not None:
                stored = self._database.insert(overrides).values(row)
                await connection.execute(upsert(stored, "paused", "pinned", "by", "at"))
            else:
                await connection.execute(delete(overrides).where(mine))
            did = change(before, override)
            entry = AuditEntry(
                at=override.at,
                who=override.by,
                what=did.what,
                subject=override.subject,
                detail=did.detail,
                ending=did.ending,
            )
            await connection.execute(insert(audit), msgspec.structs.asdict(entry))
