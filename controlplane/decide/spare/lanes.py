"""One model's spare cycle: an ordered tuple of rules over a draft. No plan is ever stored.

Each cycle looks at what is and derives the rest, so a cycle may be cut after any action and the
next one goes on from there.
"""

from collections.abc import Callable
from typing import TypeAlias

from controlplane.decide.spare.draft import Draft
from controlplane.decide.spare.drain import finish_drains, start_drains
from controlplane.decide.spare.inputs import SpareInput
from controlplane.decide.spare.promote import (
    label_warm,
    lend,
    promote,
    put_to_sleep,
    renew,
    start_warm_ups,
    take_back_restarted,
    well_kept,
)
from controlplane.decide.spare.refill import leave_zone, replace_slow, resize, rotate
from controlplane.domain.decisions import Choice

Rule: TypeAlias = Callable[[Draft], None]

RULES: tuple[Rule, ...] = (
    take_back_restarted,
    start_warm_ups,
    promote,  # capacity first
    renew,
    start_drains,  # only what is more than the target
    label_warm,
    finish_drains,
    replace_slow,
    rotate,
    leave_zone,
    resize,
    lend,
    put_to_sleep,
)


def at_rest(draft: Draft) -> bool:
    """Say whether everything serves or is kept ready as it should: no rule would speak."""
    seen, serving, spares = draft.seen, len(draft.serving), len(draft.warm)
    return (
        serving + spares == len(seen.replicas)
        and serving == seen.standing.replicas
        and spares == seen.policy.count
        and not draft.leaving
        and not any(draft.deficit(name) for name in draft.classes)
        and all(well_kept(draft, replica) for replica in draft.warm)
    )


def decide_spare(seen: SpareInput) -> Choice:
    """Decide what happens to one model's replicas. Pure: the same input gives the same choice."""
    draft = Draft(seen)
    serving = len(draft.serving)
    for rule in () if at_rest(draft) else RULES:
        rule(draft)
    return Choice(
        subject=seen.model,
        current=serving,
        target=seen.standing.replicas,
        trail=draft.figure.trail,
        refused=tuple(draft.refused),
        actions=tuple(draft.actions),
        seen=seen,
    )
