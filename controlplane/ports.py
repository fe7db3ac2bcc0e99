"""What the loops and pages need from outside, each with a real and an embedded implementation.

Adapters raise `Unavailable` when the other side cannot be had; anything else they raise is a bug.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from controlplane.domain.actions import Action
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.domain.fleet import FleetView
from controlplane.domain.ledger import LedgerRow
from controlplane.domain.load import ModelLoad
from controlplane.domain.overrides import Override, Overrides
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.reasons import Reason, ReasonCode, Refusal


class UnavailableError(Exception):
    """The other side cannot be had right now; the cycle is skipped and looks again."""


class Cluster(Protocol):
    """Nodes and pods: the embedded world, or Kubernetes."""

    async def observe(self) -> FleetView:
        """Give one consistent snapshot."""
        ...

    async def apply(self, action: Action) -> Outcome:
        """Carry out one action; a refusal is an outcome, not an exception."""
        ...


class Signals(Protocol):
    """What the models bring and feel."""

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        """Give the load of every catalogued model; what is unknown says so."""
        ...


class DecisionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A stored decision."""

    id: int
    at: Instant
    loop: str
    subject: str
    current: int
    target: int
    decisive: ReasonCode
    trail: tuple[Reason, ...]
    refused: tuple[Refusal, ...]
    actions: tuple[Action, ...]
    ending: Ending
    note: str
    settled_at: Instant | None
    repeats: int  # how often the same hold was decided again since
    last_at: Instant  # when it was last decided again
    catalogue_version: int
    world: str
    seen: bytes  # the exact input as JSON; decode with `decide.replay`
    digest: str = ""  # of `seen` as it was written; empty where none was


class DecisionQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which decisions to list, newest first."""

    subject: str | None = None
    loop: str | None = None
    code: ReasonCode | None = None
    moved_only: bool = False
    before_id: int | None = None
    since: Instant | None = None
    until: Instant | None = None
    limit: int = 100


class Journal(Protocol):
    """Decisions, written before they are done (law 3)."""

    async def open(
        self, loop: str, choices: Sequence[Choice], at: Instant, catalogue_version: int
    ) -> Sequence[int | None]:
        """Write the choices down; None where a row only counts one more repeat of a hold."""
        ...

    async def close(self, row: int, outcome: Outcome, at: Instant) -> None:
        """Say what happened."""
        ...

    async def unsettled(self, loop: str) -> Sequence[DecisionRow]:
        """Give the rows a crash left open."""
        ...


class DecisionReads(Protocol):
    """The journal, to be read."""

    async def decisions(self, query: DecisionQuery) -> Sequence[DecisionRow]:
        """List decisions, newest first."""
        ...

    async def decision(self, row: int) -> DecisionRow | None:
        """Give one decision."""
        ...


class LoopMemory(Protocol):
    """What a loop must remember over a restart, as JSON."""

    async def load(self, loop: str) -> bytes | None:
        """Give what was saved last, if anything."""
        ...

    async def save(self, loop: str, memory: bytes) -> None:
        """Replace it."""
        ...


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
    """Pauses and pins."""

    async def overrides(self) -> Overrides:
        """Give all in force, by subject."""
        ...

    async def put(self, override: Override) -> None:
        """Set one; an override that neither pauses nor pins is removed. Audited."""
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
    role: str  # viewer, operator, admin
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


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """A what-if run: where it stands, and its report when it is done."""

    id: str
    scenario: str
    policy: str
    seed: int
    state: str  # queued, running, done, failed, cancelled
    done: float = 0.0  # share of the scenario's time
    report: dict[str, Any] | None = None
    error: str = ""


class WhatIf(Protocol):
    """Simulations beside the daemon, in processes of their own."""

    async def start(self, scenario: str, policy: str, seed: int) -> RunProgress:
        """Queue a run; ValueError with one sentence when it cannot be."""
        ...

    async def runs(self) -> Sequence[RunProgress]:
        """Give all runs, newest first."""
        ...

    async def cancel(self, run: str) -> None:
        """Stop a run; the finished ones stay as they are."""
        ...


class CatalogueLoader(Protocol):
    """Reads and validates a fleet file's text."""

    def __call__(self, text: str, source: str) -> Catalogue:
        """Give the catalogue, or raise ValueError with one line per fault."""
        ...
