"""The ledger: writing an interval twice changes nothing (law 8).

The first row written stands. What a second run of the same interval computes may differ (a price
has changed since), and a bill that was shown must not change behind the reader's back.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import RowMapping, case, select

from controlplane.adapters.sql.database import Database, chunks
from controlplane.adapters.sql.tables import billed, ledger
from controlplane.adapters.sql.worlds import World
from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.quantities import Instant, Micros, ModelName

_ROWS_A_STATEMENT = 100  # the event loop breathes in between


class SqlLedger:
    """Costs of one world."""

    def __init__(self, database: Database, world: World) -> None:
        """Write into this world's part."""
        self._database = database
        self._world = world

    async def write(self, rows: Sequence[LedgerRow]) -> None:
        """Add rows; a row written twice is one row."""
        if not rows:
            return
        insert = self._database.insert(ledger).on_conflict_do_nothing()
        mark = self._database.insert(billed).values(
            world_id=self._world.id, until=max(row.end for row in rows)
        )
        later = case(
            (mark.excluded.until > billed.c.until, mark.excluded.until), else_=billed.c.until
        )
        async with self._database.writing() as connection:
            for chunk in chunks(rows, _ROWS_A_STATEMENT):
                await connection.execute(insert, [self._columns(row) for row in chunk])
            await connection.execute(
                mark.on_conflict_do_update(index_elements=["world_id"], set_={"until": later})
            )

    async def billed_until(self) -> Instant | None:
        """Say up to when everything is billed."""
        query = select(billed.c.until).where(billed.c.world_id == self._world.id)
        async with self._database.reading() as connection:
            until: Instant | None = await connection.scalar(query)
        return until

    async def rows(self, start: Instant, end: Instant) -> Sequence[LedgerRow]:
        """Give the rows whose interval begins within [start, end)."""
        query = (
            select(ledger)
            .where(ledger.c.world_id == self._world.id)
            .where(ledger.c.start >= start, ledger.c.start < end)
            .order_by(*ledger.primary_key.columns)
        )
        found: list[LedgerRow] = []
        async with self._database.reading() as connection:
            result = await connection.stream(query)
            async for part in result.mappings().partitions(_ROWS_A_STATEMENT):
                found.extend(_row(row) for row in part)
        return found

    def _columns(self, row: LedgerRow) -> dict[str, Any]:
        return {
            **msgspec.structs.asdict(row),
            "world_id": self._world.id,
            "model": row.model or "",
        }


def _row(row: RowMapping) -> LedgerRow:
    return LedgerRow(
        start=row["start"],
        end=row["end"],
        node=row["node"],
        device=row["device"],
        node_class=row["node_class"],
        zone=row["zone"],
        kind=LineKind(row["kind"]),
        model=ModelName(row["model"]) if row["model"] else None,
        team=row["team"],
        micros=Micros(row["micros"]),
        price_micros_per_hour=Micros(row["price_micros_per_hour"]),
        reconstructed=row["reconstructed"],
        catalogue_version=row["catalogue_version"],
    )
