"""A decision: a figure, how it came about, what was refused and what is to be done.

The only way to change a figure is `Target.after`, which demands a code: a changed target without
its trail cannot be built (law 2). The trail adds up: each `before` is the previous `after`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from controlplane.domain.actions import Action
from controlplane.domain.quantities import ClassName, Instant, ModelName
from controlplane.domain.reasons import Evidence, Reason, ReasonCode, Refusal


class Target(msgspec.Struct, frozen=True, gc=False):
    """The figure under discussion and everything said about it so far."""

    replicas: int
    trail: tuple[Reason, ...] = ()

    def after(self, to: int, code: ReasonCode, evidence: tuple[Evidence, ...]) -> "Target":
        """Give the target after a rule spoke; a rule may also leave the figure where it is."""
        return Target(to, (*self.trail, Reason(code, self.replicas, to, evidence)))

    def move(self, to: int, code: ReasonCode, *evidence: Evidence) -> "Target":
        """Let a rule move the figure, its evidence given one by one."""
        return self.after(to, code, evidence)

    def note(self, code: ReasonCode, *evidence: Evidence) -> "Target":
        """Let a rule speak without moving the figure."""
        return self.after(self.replicas, code, evidence)


def decisive(trail: tuple[Reason, ...]) -> ReasonCode | None:
    """Give the code that decided: the last that moved the figure, else the last that spoke."""
    for reason in reversed(trail):
        if reason.moved:
            return reason.code
    return trail[-1].code if trail else None


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What one loop decided about one subject in one cycle. What the journal stores."""

    subject: str  # a model, or "*" for the fleet
    current: int
    target: int
    trail: tuple[Reason, ...]
    refused: tuple[Refusal, ...] = ()
    actions: tuple[Action, ...] = ()
    seen: Any = None  # the exact input: a frozen Struct whose type `decide.replay` knows by loop

    @property
    def decisive(self) -> ReasonCode | None:
        """The code that decided."""
        return decisive(self.trail)


class Ending(StrEnum):
    """How acting on a choice ended."""

    OPEN = "open"  # written down, not yet acted on
    DONE = "done"
    REFUSED = "refused"  # the cluster said no: precondition failed, forbidden, quota
    FAILED = "failed"
    ADVISED = "advised"  # advisory mode: shown, not done
    PAUSED = "paused"
    SETTLED = "settled"  # found open after a crash and settled by looking


class Outcome(msgspec.Struct, frozen=True):
    """What happened when a choice was carried out."""

    ending: Ending
    note: str = ""


DONE = Outcome(Ending.DONE)


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The target in force for one model: how many in service, spread over its variants."""

    replicas: int
    split: Mapping[ClassName, int]
    since: Instant
    slo_broken: bool = False
    importance: int = 5


Plan = Mapping[ModelName, Standing]
