"""What the decision pages draw: lines, and one decision as a ladder."""

from typing import Any, Literal, TypeAlias

import msgspec

from controlplane.domain.differences import Difference
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import Evidence, Reason, ReasonCode, Refusal

Effect: TypeAlias = Literal["raised", "lowered", "spoke"]
Verdict: TypeAlias = Literal["identical", "different", "impossible"]


class DecisionLine(msgspec.Struct, frozen=True, kw_only=True):
    """A decision in a list."""

    id: int
    at: Instant
    loop: str
    subject: str
    current: int
    target: int
    reason: Reason  # the decisive one, with its evidence
    trail: tuple[Reason, ...]  # what `render.sentences.headline` words
    repeats: int  # the same hold, decided again so often since
    last_at: Instant
    ending: str  # an `Ending`
    note: str = ""


class DecisionList(msgspec.Struct, frozen=True, kw_only=True):
    """Decisions, newest first, and where the next page begins."""

    rows: tuple[DecisionLine, ...]
    next_before: int | None = None


class Rung(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the ladder: a rule that spoke."""

    code: ReasonCode
    before: int
    after: int
    effect: Effect
    decisive: bool
    evidence: tuple[Evidence, ...] = ()


class DecisionDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One decision, whole."""

    line: DecisionLine
    rungs: tuple[Rung, ...]
    refused: tuple[Refusal, ...]
    actions: tuple[Any, ...]  # as stored, each with its "type"
    settled_at: Instant | None
    served_after_s: float | None  # until the target was in service; None: not yet, or not known
    replay: Verdict
    differences: tuple[Difference, ...] = ()
    replay_note: str = ""  # why it is impossible
    seen: Any = None  # the exact input
    catalogue_version: int = 0
    world: str = ""
