"""A whole decision in one line: what changed, what asked for it, and what stood in its way.

The trail is a ladder. What *asked* is the last rule that took the figure furthest from where it
was; what *held* is the last rule after it that moved the figure again. So a raise to 9 that a
shortage cut to 7 says both, and a hold says what would have moved it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from controlplane.domain.decisions import decisive
from controlplane.domain.overrides import FLEET
from controlplane.domain.reasons import Reason, ReasonCode
from controlplane.render.sentences.languages import DEFAULT, clause


class Phrases(NamedTuple):
    """The frames of one language around subject, figures and clauses."""

    rises: str
    falls: str
    stays: str
    stays_though: str
    rest: str
    event: str
    silent: str
    fleet: str


PHRASES: Mapping[str, Phrases] = {
    "en": Phrases(
        rises="{subject} goes from {current} to {target}, because {cause}{rest}.",
        falls="{subject} goes from {current} to {target}, because {cause}{rest}.",
        stays="{subject} stays at {current}, because {cause}.",
        stays_though="{subject} stays at {current} instead of {peak}: {cause}, but {hold}.",
        rest="; not to {peak}, because {hold}",
        event="{subject}: {cause}.",
        silent="{subject} stays at {current}; no rule spoke.",
        fleet="The fleet",
    ),
    "zh": Phrases(
        rises="{subject} 从 {current} 增至 {target}，因为{cause}{rest}。",
        falls="{subject} 从 {current} 减至 {target}，因为{cause}{rest}。",
        stays="{subject} 保持 {current}，因为{cause}。",
        stays_though="{subject} 保持 {current} 而不是 {peak}：{cause}，但{hold}。",
        rest="；未到 {peak}，因为{hold}",
        event="{subject}：{cause}。",
        silent="{subject} 保持 {current}；没有规则发言。",
        fleet="整个机群",
    ),
}

EVENTS = frozenset(
    {
        ReasonCode.REFILLED,
        ReasonCode.SPARE_SURPLUS,
        ReasonCode.LENT,
        ReasonCode.WARM_UP_STARTED,
        ReasonCode.BECAME_WARM,
        ReasonCode.PROMOTED,
        ReasonCode.DRAIN_STARTED,
        ReasonCode.DRAINED,
        ReasonCode.DRAIN_DEADLINE,
        ReasonCode.ROTATED,
        ReasonCode.LOAD_TOO_SLOW,
        ReasonCode.NODE_SILENT,
        ReasonCode.MOST_NODES_SILENT,
        ReasonCode.NONE_SERVES,
        ReasonCode.NO_NODES,
        ReasonCode.REPLICA_FAILED,
        ReasonCode.UNSCHEDULABLE,
        ReasonCode.PUT_TO_SLEEP,
        ReasonCode.WOKEN,
        ReasonCode.SQUATTING,
        ReasonCode.METERED,
        ReasonCode.RECONSTRUCTED,
        ReasonCode.OF_ANOTHER_VERSION,
        ReasonCode.CATALOGUE_APPLIED,
        ReasonCode.CATALOGUE_REFUSED,
        ReasonCode.ACTION_REFUSED,
        ReasonCode.NOBODY_LEADS,
        ReasonCode.WORKLOAD_CREATED,
        ReasonCode.WORKLOAD_CHANGED,
        ReasonCode.WORKLOAD_DRIFTED,
        ReasonCode.WORKLOAD_REFUSED,
        ReasonCode.OWNED_BY_ANOTHER,
        ReasonCode.ROLLOUT_STUCK,
        ReasonCode.WORKLOAD_LEFT,
        ReasonCode.DISOWNED,
        ReasonCode.BREAKER_OPENED,
        ReasonCode.BREAKER_PROBING,
        ReasonCode.BREAKER_REOPENED,
        ReasonCode.BREAKER_CLOSED,
        ReasonCode.ISOLATED,
        ReasonCode.REJOINED,
    }
)
"""Codes that say what happened, where a figure that stays would be no news."""


class Account(NamedTuple):
    """What a trail comes down to."""

    cause: Reason
    hold: Reason | None = None


def account(current: int, target: int, trail: tuple[Reason, ...]) -> Account | None:
    """Find what asked for the change and what held it back, if anything did."""
    moves = [reason for reason in trail if reason.moved]
    if not moves:
        code = decisive(trail)
        spoke = next((reason for reason in reversed(trail) if reason.code == code), None)
        return Account(spoke) if spoke else None
    peak = max(moves, key=lambda reason: _reach(reason, current, target))
    after = moves[moves.index(peak) + 1 :]
    return Account(peak, after[-1] if after else None)


def headline(
    subject: str,
    current: int,
    target: int,
    trail: tuple[Reason, ...],
    language: str = DEFAULT,
) -> str:
    """Say a decision in one line."""
    phrases = PHRASES.get(language, PHRASES[DEFAULT])
    named = phrases.fleet if subject == FLEET else subject
    found = account(current, target, trail)
    if found is None:
        return phrases.silent.format(subject=named, current=current)
    cause, hold = found
    said = {
        "subject": named,
        "current": current,
        "target": target,
        "cause": clause(cause.code, cause.evidence, language),
        "peak": cause.after,
        "hold": clause(hold.code, hold.evidence, language) if hold else "",
    }
    return _frame(phrases, said, found).format(**said)


def _frame(phrases: Phrases, said: Mapping[str, object], found: Account) -> str:
    current, target = int(str(said["current"])), int(str(said["target"]))
    if found.cause.code in EVENTS:
        return phrases.event
    if current == target:
        return phrases.stays if found.hold is None else phrases.stays_though
    frame = phrases.rises if target > current else phrases.falls
    rest = phrases.rest if found.hold is not None and found.cause.after != target else ""
    return frame.replace("{rest}", rest)


def _reach(reason: Reason, current: int, target: int) -> int:
    """Say how far a move went the way the decision went in the end, or at all if it held."""
    way = (target > current) - (target < current)
    return (reason.after - current) * way if way else abs(reason.after - current)
