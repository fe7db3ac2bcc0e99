"""Guards only pull a wish towards what is: never past it, never the other way (law 12).

A guard gets the input, the figures and the target under discussion, and returns a target: moved
nearer to the current one, or as it was. To add one: write a function, put it into `GUARDS`.
`room_on_classes` comes after them all: what it takes away is what the model waits for.
"""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from controlplane.decide.scaling.figures import Figures
from controlplane.decide.scaling.inputs import ScaleInput
from controlplane.decide.scaling.window import covered_share, highest_wish
from controlplane.domain.decisions import Target
from controlplane.domain.reasons import Evidence, ReasonCode

Guard: TypeAlias = Callable[[ScaleInput, Figures, Target], Target]


def window_covered(seen: ScaleInput, now: Figures, target: Target) -> Target:
    """Fall only when the window was covered by known signals (law 1)."""
    if target.replicas >= now.current:
        return target
    window = now.window_s
    share = covered_share(seen.memory.wishes, seen.at, window)
    if share >= seen.policy.scaling.coverage:
        return target
    evidence = Evidence("covered", round(share, 4), seen.policy.scaling.coverage, "")
    return target.move(
        now.current, ReasonCode.WINDOW_NOT_COVERED, evidence, Evidence("window", window, None, "s")
    )


def still_stabilising(seen: ScaleInput, now: Figures, target: Target) -> Target:
    """Fall only to the highest wish of the window: what was needed a minute ago may be again."""
    if target.replicas >= now.current:
        return target
    window = now.window_s
    highest = highest_wish(seen.memory.wishes, seen.at, window)
    held = min(now.current, max(target.replicas, highest))
    if held == target.replicas:
        return target
    return target.move(
        held,
        ReasonCode.STABILISING,
        Evidence("highest_wish", highest),
        Evidence("window", window, None, "s"),
    )


def cooling_down(seen: ScaleInput, now: Figures, target: Target) -> Target:
    """Hold for the cooldown after a change; rises too where the policy says so."""
    policy, changed_at = seen.policy.scaling, seen.memory.changed_at
    if changed_at is None or seen.at - changed_at >= policy.cooldown_s:
        return target
    falls = target.replicas < now.current
    rises = target.replicas > now.current
    if falls or (rises and policy.cooldown_up):
        since = Evidence("since_change", seen.at - changed_at, policy.cooldown_s, "s")
        return target.move(now.current, ReasonCode.COOLING_DOWN, since)
    return target


def step_only(seen: ScaleInput, now: Figures, target: Target) -> Target:
    """Move at most so many replicas per step period, where the policy sets steps."""
    policy, memory = seen.policy.scaling, seen.memory
    start = now.current
    if memory.step_began is not None and seen.at - memory.step_began < policy.step_period_s:
        start = memory.before_change
    if policy.step_up is not None and target.replicas > now.current:
        most = max(now.current, start + policy.step_up)
        if target.replicas > most:
            return target.move(most, ReasonCode.STEP_ONLY, Evidence("step", policy.step_up))
    if policy.step_down is not None and target.replicas < now.current:
        least = min(now.current, start - policy.step_down)
        if target.replicas < least:
            return target.move(least, ReasonCode.STEP_ONLY, Evidence("step", policy.step_down))
    return target


def cold_step_only(seen: ScaleInput, now: Figures, target: Target) -> Target:
    """Create only so many cold replicas per period; promoting what is warm is not limited."""
    policy = seen.policy.scaling
    if policy.cold_step_share is None or target.replicas <= now.current:
        return target
    base = max(now.current, now.ready)
    recent = 0
    for start in seen.memory.cold:
        if seen.at - start.at < policy.step_period_s:
            recent += start.replicas
    # The share is of the target at the period's start, else each step would widen the next.
    allowed = max(policy.cold_step_min, int(policy.cold_step_share * (now.current - recent)))
    most = base + max(0, allowed - recent)
    if target.replicas <= most:
        return target
    return target.move(
        most,
        ReasonCode.COLD_STEP_ONLY,
        Evidence("cold", target.replicas - base, allowed, _per(policy.step_period_s)),
    )


@cache
def _per(period_s: float) -> str:
    return f"per {period_s:g} s"


def room_on_classes(seen: ScaleInput, now: Figures, target: Target) -> Target:
    """Grow only into devices that are there, and are not another model's (arbitration said so)."""
    room = seen.room
    if room is None or target.replicas <= now.current:
        return target
    if room.grants is None:
        return target.move(now.current, ReasonCode.INVENTORY_UNKNOWN, *room.evidence)
    holding = 0
    for held in seen.held.values():
        holding += held.scheduled
    most = max(now.current, holding + sum(room.grants.values()))
    if target.replicas <= most:
        return target
    wanted = Evidence("wanted", target.replicas, most, "replicas")
    if room.lost_to is not None:
        return target.move(most, ReasonCode.LOST_TO, Evidence("winner", room.lost_to), wanted)
    code = room.rule or ReasonCode.NO_DEVICE_FREE
    return target.move(most, code, wanted, *room.evidence)


GUARDS: tuple[Guard, ...] = (
    window_covered,  # unknown is not idle
    still_stabilising,  # what was needed a minute ago may be again
    cooling_down,
    step_only,
    cold_step_only,  # cold starts must not amplify a spike
)
