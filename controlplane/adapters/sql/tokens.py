"""Access tokens, found by the SHA-256 of their secret; the secret itself is kept nowhere.

A secret is 256 random bits, not a password: nobody can guess or list it, so a fast hash is right.
A slow one protects what people choose; here it would only let every caller with a wrong token cost
us time. Rows are found by an index: how long that takes tells at most how a hash begins, and from a
hash no way leads back to a secret.
"""

import hmac
from collections.abc import Sequence

import msgspec
from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from controlplane.adapters.sql.database import Database
from controlplane.adapters.sql.tables import tokens
from controlplane.ports import Token

_COLUMNS = tuple(tokens.c[name] for name in Token.__struct_fields__)


class SqlTokens:
    """Tokens; they belong to the store, not to a world."""

    def __init__(self, database: Database) -> None:
        """Keep them in this database."""
        self._database = database

    async def tokens(self) -> Sequence[Token]:
        """List them by name, those that ended too."""
        async with self._database.reading() as connection:
            found = await connection.execute(select(*_COLUMNS).order_by(tokens.c.name))
            return [Token(**row) for row in found.mappings()]

    async def add(self, token: Token, secret_hash: str) -> None:
        """Store one; a second of the same name is refused with ValueError."""
        row = {**msgspec.structs.asdict(token), "secret_hash": secret_hash}
        try:
            async with self._database.writing() as connection:
                await connection.execute(insert(tokens), row)
        except IntegrityError:
            raise ValueError(f"a token named {token.name} exists already") from None

    async def find(self, secret_hash: str) -> Token | None:
        """Give the token with this secret, also one that has ended; the caller knows the time."""
        query = select(*_COLUMNS, tokens.c.secret_hash).where(tokens.c.secret_hash == secret_hash)
        async with self._database.reading() as connection:
            found = (await connection.execute(query)).mappings().first()
        if found is None or not hmac.compare_digest(found["secret_hash"], secret_hash):
            return None
        return Token(**{name: found[name] for name in Token.__struct_fields__})

    async def remove(self, name: str) -> bool:
        """Take one away; say whether there was one."""
        async with self._database.writing() as connection:
            gone = await connection.execute(delete(tokens).where(tokens.c.name == name))
        return gone.rowcount > 0
