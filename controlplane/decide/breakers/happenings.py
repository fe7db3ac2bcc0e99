"""What may happen to a model's breaker, as values: stored with a change, and decided on again.

Whoever keeps a breaker moves it by `step` alone, so that what is stored is all it depended on.
"""

from typing import TypeAlias

import msgspec

from controlplane.decide.breakers.answers import Meaning
from controlplane.decide.breakers.breaker import (
    Breaker,
    Step,
    ask,
    heard,
    isolate,
    probed,
    rejoin,
)
from controlplane.domain.decisions import Choice
from controlplane.domain.overrides import Isolation
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.quantities import Instant, ModelName

MARKS = {Meaning.WELL: "w", Meaning.BROKEN: "b", Meaning.NEITHER: "n"}
MEANT = {mark: meant for meant, mark in MARKS.items()}


class Ends(msgspec.Struct, frozen=True, tag=True):
    """Requests ended."""

    marks: str  # one letter each, in order: w(ell), b(roken), n(either)


class Asked(msgspec.Struct, frozen=True, tag=True):
    """A request asked to go on."""


class ProbeEnded(msgspec.Struct, frozen=True, tag=True):
    """The probe ended."""

    meaning: Meaning


class TakenOut(msgspec.Struct, frozen=True, tag=True):
    """A person isolated the model."""

    isolation: Isolation


class LetIn(msgspec.Struct, frozen=True, tag=True):
    """The isolation was ended."""


Happening: TypeAlias = Ends | Asked | ProbeEnded | TakenOut | LetIn


class BreakerSeen(msgspec.Struct, frozen=True, kw_only=True):
    """All that a change of a breaker depends on."""

    at: Instant
    model: ModelName
    before: Breaker
    policy: BreakerPolicy
    happened: Happening


def step(seen: BreakerSeen) -> Step:
    """Give the breaker after what happened, and why it changed, if it did."""
    before, now, policy = seen.before, seen.at, seen.policy
    match seen.happened:
        case Ends(marks=marks):
            return heard(before, now, [MEANT[mark] for mark in marks], policy)
        case Asked():
            left = ask(before, now, policy)
            return Step(left.breaker, left.trail)
        case ProbeEnded(meaning=meant):
            return probed(before, now, meant, policy)
        case TakenOut(isolation=isolation):
            return isolate(before, now, isolation)
        case LetIn():
            return rejoin(before, now)


def choice(seen: BreakerSeen, taken: Step) -> Choice:
    """Give what the journal stores: 1 while requests pass, 0 while they do not."""
    return Choice(
        subject=seen.model,
        current=int(seen.before.passing),
        target=int(taken.breaker.passing),
        trail=taken.trail,
        seen=seen,
    )


def decide_breaker(seen: BreakerSeen) -> Choice:
    """Decide a stored change again."""
    return choice(seen, step(seen))
