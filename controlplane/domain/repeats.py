"""When a choice gets a row of its own, and when it only repeats what stands there already.

A loop decides about every subject every few seconds and nearly always the same. A row is written
when the target, the decisive code or the actions change. Otherwise the row that stands counts one
more repeat: a hold is not acted on again, an action decided again is (a refused one, advice that
nobody took), over the same row. An action decided again after a long pause is news: somebody
changed the cluster behind our back, and that deserves to be seen.
"""

from enum import StrEnum

import msgspec

from controlplane.domain.actions import Action
from controlplane.domain.decisions import Choice
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import ReasonCode

SAME_ATTEMPT_S = 300.0


class Written(msgspec.Struct, frozen=True, gc=False):
    """What the newest row of a (loop, subject) says. Kept by the thousand, never in a circle."""

    target: int
    decisive: ReasonCode
    actions: tuple[Action, ...]
    last_at: Instant  # when it was last decided

    def again(self, at: Instant) -> "Written":
        """Give the same, decided again."""
        return Written(self.target, self.decisive, self.actions, at)


class Entry(StrEnum):
    """What the journal does about a choice."""

    NONE = "none"  # nobody spoke and there is nothing to do
    HELD = "held"  # counted on the row that stands; nothing to act on
    AGAIN = "again"  # counted on the row that stands, which is opened again to be acted on
    NEW = "new"  # a row of its own


def entry(choice: Choice, at: Instant, standing: Written | None) -> Entry:
    """Say what the journal does about a choice; refuse one that acts without a reason (law 2)."""
    decisive = choice.decisive
    if decisive is None:
        if choice.actions or choice.target != choice.current:
            raise ValueError(f"the choice about {choice.subject} acts but gives no reason")
        return Entry.NONE
    same = (
        standing is not None
        and decisive == standing.decisive
        and choice.target == standing.target
        and choice.actions == standing.actions
    )
    if standing is None or not same:
        return Entry.NEW
    if not choice.actions:
        return Entry.HELD
    return Entry.AGAIN if at - standing.last_at <= SAME_ATTEMPT_S else Entry.NEW


def written(choice: Choice, at: Instant) -> Written:
    """Give what a row written for this choice says."""
    if choice.decisive is None:
        raise ValueError(f"the choice about {choice.subject} gives no reason")
    return Written(choice.target, choice.decisive, choice.actions, at)
