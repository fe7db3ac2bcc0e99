"""Pauses, pins and isolations. Setting one and noting who did it is one transaction."""

from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy import delete, insert, select

from controlplane.adapters.sql.database import Database, upsert
from controlplane.adapters.sql.tables import audit, overrides
from controlplane.domain.overrides import Isolation, Override, Overrides, change
from controlplane.ports import AuditEntry

ISOLATION = "isolated_"
SET = ("paused", "pinned", "isolated_by", "isolated_at", "isolated_why", "by", "at")


class SqlOverrides:
    """What people decided by hand; belongs to the store, not to a world."""

    def __init__(self, database: Database) -> None:
        """Keep them in this database."""
        self._database = database

    async def overrides(self) -> Overrides:
        """Give all in force, by subject."""
        async with self._database.reading() as connection:
            found = (await connection.execute(select(overrides))).mappings().all()
        return {row["subject"]: _read(row) for row in found}

    async def put(self, override: Override) -> None:
        """Set one; an override that holds nothing is removed. Audited."""
        mine = overrides.c.subject == override.subject
        async with self._database.writing() as connection:
            found = (await connection.execute(select(overrides).where(mine))).mappings().first()
            before = None if found is None else _read(found)
            if override.holds:
                stored = self._database.insert(overrides).values(_written(override))
                await connection.execute(upsert(stored, *SET))
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


def _read(row: Mapping[Any, Any]) -> Override:
    plain = {name: row[name] for name in row if not name.startswith(ISOLATION)}
    if row["isolated_by"] is None:
        return Override(**plain)
    isolation = Isolation(
        by=row["isolated_by"], at=row["isolated_at"], why=row["isolated_why"] or ""
    )
    return Override(**plain, isolated=isolation)


def _written(override: Override) -> dict[str, Any]:
    row = msgspec.structs.asdict(override)
    held: Isolation | None = row.pop("isolated")
    names = ("by", "at", "why")
    return row | {f"{ISOLATION}{name}": held and getattr(held, name) for name in names}
