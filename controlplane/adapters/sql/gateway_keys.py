"""Keys of the gateway's callers; of a secret only its SHA-256 is kept, as with access tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from controlplane.adapters.sql.database import Database
from controlplane.adapters.sql.tables import gateway_keys
from controlplane.domain.gateway import ApiKey
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ModelName

_COLUMNS = tuple(gateway_keys.c[name] for name in ApiKey.__struct_fields__)


class SqlGatewayKeys:
    """Keys; they belong to the store, not to a world."""

    def __init__(self, database: Database) -> None:
        """Keep them in this database."""
        self._database = database

    async def keys(self) -> Sequence[ApiKey]:
        """List them by name."""
        async with self._database.reading() as connection:
            found = await connection.execute(select(*_COLUMNS).order_by(gateway_keys.c.name))
            return [_key({str(n): v for n, v in row.items()}) for row in found.mappings()]

    async def add(self, key: ApiKey) -> None:
        """Store one; a second of the same name is refused with ValueError."""
        row = msgspec.to_builtins(key) | {"models": msgspec.json.encode(key.models)}
        try:
            async with self._database.writing() as connection:
                await connection.execute(insert(gateway_keys), row)
        except IntegrityError:
            raise ValueError(f"a key named {key.name} exists already") from None

    async def remove(self, name: str) -> bool:
        """Take one away; say whether there was one."""
        async with self._database.writing() as connection:
            gone = await connection.execute(delete(gateway_keys).where(gateway_keys.c.name == name))
        return gone.rowcount > 0


def _key(row: Mapping[str, Any]) -> ApiKey:
    return ApiKey(
        secret_hash=row["secret_hash"],
        name=row["name"],
        priority=Priority(row["priority"]),
        tenant=row["tenant"],
        models=msgspec.json.decode(row["models"], type=tuple[ModelName, ...]),
    )
