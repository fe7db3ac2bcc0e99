"""What it costs, and what people set: overrides, catalogues, tokens, who did what."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from controlplane.domain.ledger import LedgerRow
from controlplane.domain.overrides import Override, Overrides
from controlplane.domain.quantities import Instant


class Ledger(Protocol):
    """Costs by device and interval."""

    async def write(self, rows: Sequence[LedgerRow]) -> None:
        """Add rows; a row written twice is one row."""
        ...

    async def billed_until(self) -> Instant | None:
        """Say up to when everything is billed."""
        ...

    async def rows(self, start: Instant, end: Instant) -> Sequence[LedgerRow]:
        """Give the rows whose interval begins within [start, end)."""
        ...


class OverrideStore(Protocol):
    """Pauses, pins and isolations."""

    async def overrides(self) -> Overrides:
        """Give all in force, by subject."""
        ...

    async def put(self, override: Override) -> None:
        """Set one; an override that holds nothing is removed. Audited."""
        ...


class CatalogueVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of the catalogue as it was applied."""

    version: int
    at: Instant
    source: str  # the file's name
    text: str  # the file's text, whole
    by: str


class CatalogueStore(Protocol):
    """Every version of the catalogue that was ever in force."""

    async def add(self, text: str, source: str, by: str, at: Instant) -> CatalogueVersion:
        """Store a version; the same text as the newest gives the newest back."""
        ...

    async def versions(self, limit: int = 50) -> Sequence[CatalogueVersion]:
        """List versions, newest first."""
        ...


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """An access token, without its secret."""

    name: str
    role: str  # gateway, viewer, operator, admin
    created_at: Instant
    expires_at: Instant | None = None


class TokenStore(Protocol):
    """Access tokens; only a hash of the secret is kept."""

    async def tokens(self) -> Sequence[Token]:
        """List them."""
        ...

    async def add(self, token: Token, secret_hash: str) -> None:
        """Store one; a second of the same name is refused with ValueError."""
        ...

    async def find(self, secret_hash: str) -> Token | None:
        """Give the token with this secret."""
        ...

    async def remove(self, name: str) -> bool:
        """Take one away; say whether there was one."""
        ...


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One mutating call: who did what to whom, and how it ended."""

    at: Instant
    who: str
    what: str
    subject: str
    detail: str
    ending: str


class AuditLog(Protocol):
    """Who changed what."""

    async def record(self, entry: AuditEntry) -> None:
        """Append one entry."""
        ...

    async def entries(self, limit: int = 200) -> Sequence[AuditEntry]:
        """List entries, newest first."""
        ...
