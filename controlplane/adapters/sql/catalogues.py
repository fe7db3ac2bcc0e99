"""Every version of the catalogue that was ever in force; decisions and bills point to them."""

from collections.abc import Sequence

from sqlalchemy import insert, select
from sqlalchemy import text as sql

from controlplane.adapters.sql.database import Database
from controlplane.adapters.sql.tables import catalogues
from controlplane.domain.quantities import Instant
from controlplane.ports import CatalogueVersion

_NEWEST_FIRST = select(catalogues).order_by(catalogues.c.version.desc())
_ONE_AT_A_TIME = sql("LOCK TABLE catalogues IN SHARE ROW EXCLUSIVE MODE")


class SqlCatalogues:
    """Catalogue versions; they belong to the store, not to a world."""

    def __init__(self, database: Database) -> None:
        """Keep them in this database."""
        self._database = database

    async def add(self, text: str, source: str, by: str, at: Instant) -> CatalogueVersion:
        """Store a version; the same text as the newest gives the newest back."""
        row = {"text": text, "source": source, "by": by, "at": at}
        async with self._database.writing() as connection:
            if self._database.kind == "postgresql":  # two daemons read one file at the same time
                await connection.execute(_ONE_AT_A_TIME)
            newest = (await connection.execute(_NEWEST_FIRST.limit(1))).mappings().first()
            if newest is not None and newest["text"] == text:
                return CatalogueVersion(**newest)
            stored = insert(catalogues).values(row).returning(catalogues)
            return CatalogueVersion(**(await connection.execute(stored)).mappings().one())

    async def versions(self, limit: int = 50) -> Sequence[CatalogueVersion]:
        """List versions, newest first."""
        async with self._database.reading() as connection:
            found = (await connection.execute(_NEWEST_FIRST.limit(limit))).mappings().all()
        return [CatalogueVersion(**row) for row in found]
