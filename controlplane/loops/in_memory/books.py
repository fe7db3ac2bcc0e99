"""Memory, ledger and what people set, in memory."""

from collections.abc import Sequence

import msgspec

from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.overrides import Override, Overrides, change
from controlplane.domain.quantities import Instant
from controlplane.ports import AuditEntry, AuditLog, CatalogueVersion, Token

_Place = tuple[Instant, str, int, LineKind, str]


class MemoryLoopMemory:
    """What loops remember; outlives the loops, not the process."""

    def __init__(self) -> None:
        """Start with nothing remembered."""
        self._saved: dict[str, bytes] = {}

    async def load(self, loop: str) -> bytes | None:
        """Give what was saved last, if anything."""
        return self._saved.get(loop)

    async def save(self, loop: str, memory: bytes) -> None:
        """Replace it."""
        self._saved[loop] = memory


class MemoryLedger:
    """Costs by device and interval."""

    def __init__(self) -> None:
        """Start with nothing billed."""
        self._rows: dict[_Place, LedgerRow] = {}
        self._until: Instant | None = None

    async def write(self, rows: Sequence[LedgerRow]) -> None:
        """Add rows; a row written twice is one row, the first."""
        for row in rows:
            place = (row.start, row.node, row.device, row.kind, row.model or "")
            self._rows.setdefault(place, row)
            self._until = row.end if self._until is None else max(self._until, row.end)

    async def billed_until(self) -> Instant | None:
        """Say up to when everything is billed."""
        return self._until

    async def rows(self, start: Instant, end: Instant) -> Sequence[LedgerRow]:
        """Give the rows whose interval begins within [start, end)."""
        return [self._rows[place] for place in sorted(self._rows) if start <= place[0] < end]


class MemoryAuditLog:
    """Who changed what."""

    def __init__(self) -> None:
        """Start with no entry."""
        self._entries: list[AuditEntry] = []

    async def record(self, entry: AuditEntry) -> None:
        """Append one entry."""
        self._entries.append(entry)

    async def entries(self, limit: int = 200) -> Sequence[AuditEntry]:
        """List entries, newest first."""
        return self._entries[::-1][:limit]


class MemoryOverrides:
    """Pauses, pins and isolations."""

    def __init__(self, audit: AuditLog | None = None) -> None:
        """Start with none; who sets one is noted in `audit`."""
        self._audit = audit or MemoryAuditLog()
        self._overrides: Overrides = {}

    async def overrides(self) -> Overrides:
        """Give all in force, by subject."""
        return dict(self._overrides)

    async def put(self, override: Override) -> None:
        """Set one; an override that holds nothing is removed. Audited."""
        before = self._overrides.pop(override.subject, None)
        if override.holds:
            self._overrides[override.subject] = override
        did = change(before, override)
        await self._audit.record(
            AuditEntry(
                at=override.at,
                who=override.by,
                what=did.what,
                subject=override.subject,
                detail=did.detail,
                ending=did.ending,
            )
        )


class MemoryCatalogues:
    """Every version of the catalogue that was ever in force."""

    def __init__(self) -> None:
        """Start with none."""
        self._versions: list[CatalogueVersion] = []

    async def add(self, text: str, source: str, by: str, at: Instant) -> CatalogueVersion:
        """Store a version; the same text as the newest gives the newest back."""
        if not self._versions or self._versions[-1].text != text:
            number = len(self._versions) + 1
            self._versions.append(
                CatalogueVersion(version=number, at=at, source=source, text=text, by=by)
            )
        return self._versions[-1]

    async def versions(self, limit: int = 50) -> Sequence[CatalogueVersion]:
        """List versions, newest first."""
        return self._versions[::-1][:limit]


class MemoryTokens:
    """Access tokens."""

    def __init__(self) -> None:
        """Start with none."""
        self._tokens: dict[str, Token] = {}  # by the hash of their secret

    async def tokens(self) -> Sequence[Token]:
        """List them by name, those that ended too."""
        return sorted(self._tokens.values(), key=lambda token: token.name)

    async def add(self, token: Token, secret_hash: str) -> None:
        """Store one; a second of the same name is refused with ValueError."""
        if any(known.name == token.name for known in self._tokens.values()):
            raise ValueError(f"a token named {token.name} exists already")
        self._tokens[secret_hash] = msgspec.structs.replace(token)

    async def find(self, secret_hash: str) -> Token | None:
        """Give the token with this secret, also one that has ended; the caller knows the time."""
        return self._tokens.get(secret_hash)

    async def remove(self, name: str) -> bool:
        """Take one away; say whether there was one."""
        held = [key for key, token in self._tokens.items() if token.name == name]
        for key in held:
            del self._tokens[key]
        return bool(held)
