"""Simulations beside the daemon."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from controlplane.domain.quantities import ModelName


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


class RunCourse(msgspec.Struct, frozen=True, kw_only=True):
    """One model in a run: every sequence is as long as `at`; None is a gap."""

    at: tuple[float, ...]  # seconds since the scenario began
    arrivals: Mapping[str, tuple[float | None, ...]]  # by priority class, per second
    queue: Mapping[str, tuple[float | None, ...]]
    wait_p99: Mapping[str, tuple[float | None, ...]]  # seconds
    drain_s: tuple[float | None, ...]
    lanes: Mapping[str, tuple[int, ...]]
    target: tuple[int, ...]
    wait_limits: Mapping[str, float]  # seconds, by priority class


class WhatIf(Protocol):
    """Simulations beside the daemon, in processes of their own."""

    async def start(self, scenario: str, policy: str, seed: int) -> RunProgress:
        """Queue a run; ValueError with one sentence when it cannot be."""
        ...

    async def runs(self) -> Sequence[RunProgress]:
        """Give all runs, newest first."""
        ...

    async def courses(self, run: str) -> Mapping[ModelName, RunCourse]:
        """Give how a finished run went, by model; nothing where there is none (yet)."""
        ...

    async def cancel(self, run: str) -> None:
        """Stop a run; the finished ones stay as they are."""
        ...
