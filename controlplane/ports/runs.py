"""Simulations beside the daemon."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec


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
