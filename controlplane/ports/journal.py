"""Decisions, and what the loops remember."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from controlplane.domain.actions import Action
from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import Reason, ReasonCode, Refusal


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
