"""One model's decision: triggers wish, guards pull back, bounds clamp last on every path."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from controlplane.decide.scaling.allocate import cancel, shortages, spread
from controlplane.decide.scaling.falling import fewer_suffice, survivors_would_break
from controlplane.decide.scaling.figures import Figures, figures
from controlplane.decide.scaling.guards import GUARDS, room_on_classes
from controlplane.decide.scaling.inputs import ColdStart, ModelMemory, ScaleInput
from controlplane.decide.scaling.triggers import TRIGGERS, Wish
from controlplane.decide.scaling.window import remember
from controlplane.decide.zones.survive import surviving
from controlplane.domain.actions import SetTarget
from controlplane.domain.decisions import Choice, Target
from controlplane.domain.quantities import ClassName, Instant
from controlplane.domain.reasons import Evidence, ReasonCode

Split: TypeAlias = dict[ClassName, int]

KEPT_COLD_S = 60.0
MORE_THAN_ONE = 2  # zones: with one there is nowhere to survive in


class Wished(msgspec.Struct, frozen=True, gc=False):
    """What the rules wish for before anything holds it back."""

    figures: Figures
    target: Target
    wish: int | None  # None: the signals do not allow one


def wish(seen: ScaleInput) -> Wished:
    """Let every trigger speak. The wish is the highest raise, else the proposal to fall."""
    now = figures(seen)
    target = Target(now.current)
    raised = False
    for trigger in TRIGGERS:
        spoken = trigger(seen, now)
        if spoken is None:
            continue
        to, wanted = target.replicas, spoken.replicas
        if wanted is not None and wanted > now.current:
            raised = True
            to = max(wanted, to)
        target = target.after(to, spoken.code, spoken.evidence)
    suffice = None if raised and seen.zones < MORE_THAN_ONE else fewer_suffice(seen, now)
    least = _outliving(seen, suffice)
    if raised or least > now.current:
        target = _with_margin(seen, target, least, suffice)
        return Wished(now, target, target.replicas)
    if suffice is None or suffice.replicas is None:
        return Wished(now, target.note(ReasonCode.SIGNALS_UNKNOWN), None)
    if suffice.replicas < now.current <= least:
        return Wished(now, _with_margin(seen, target, least, suffice), now.current)
    if suffice.replicas >= now.current:
        fewer = survivors_would_break(seen, now)
        return Wished(now, target.note(*fewer) if fewer else target, now.current)
    target = target.after(suffice.replicas, suffice.code, suffice.evidence)
    target = _with_margin(seen, target, least, suffice)
    return Wished(now, target, target.replicas)


def _outliving(seen: ScaleInput, suffice: Wish | None) -> int:
    """Give how many must serve so that enough are left without the fullest zone; 0: no matter."""
    if suffice is None or suffice.replicas is None or seen.zones < MORE_THAN_ONE:
        return 0
    return surviving(max(suffice.replicas, 1), seen.zones)


def _with_margin(seen: ScaleInput, target: Target, least: int, suffice: Wish | None) -> Target:
    """Keep what outlives the loss of a zone, and say what that costs."""
    if not least or suffice is None or least < target.replicas or not seen.variants:
        return target
    margin = least - max(suffice.replicas or 0, 1)
    return target.move(
        least,
        ReasonCode.SURVIVES_ZONE,
        Evidence("zones", seen.zones),
        Evidence("margin", margin, None, "replicas"),
        Evidence("price", round(margin * seen.variants[0].hourly, 4), None, "/h"),
    )


def decide_scale(seen: ScaleInput) -> Choice:
    """Decide one model's target and its split. Pure: the same input gives the same choice."""
    return settle(seen, wish(seen))[0]


def settle(seen: ScaleInput, wished: Wished) -> tuple[Choice, ModelMemory]:
    """Hold the wish back, clamp it, spread it over the variants, and remember."""
    now, target = wished.figures, wished.target
    if target.replicas != now.current:  # else there is nothing to pull back
        for guard in GUARDS:
            target = guard(seen, now, target)
    wanted = target.replicas
    target = room_on_classes(seen, now, target)  # last: what is left may still not fit
    short = shortages(seen)
    target = cancel(seen, target, short)
    target = _people(seen, now, target)
    target = _bounds(seen, target)
    split, target, refused = spread(seen, target, short)
    wanted = min(max(wanted, target.replicas), seen.policy.scaling.max)
    memory = _remember(seen, wished, target.replicas, split, wanted, short)
    # A first decision is always put in force, also where it changes nothing.
    changed = seen.memory.target != target.replicas or seen.memory.split != split
    action = SetTarget(model=seen.model, replicas=target.replicas, split=split)
    choice = Choice(
        subject=seen.model,
        current=now.current,
        target=target.replicas,
        trail=target.trail,
        refused=refused,
        actions=(action,) if changed else (),
        seen=seen,
    )
    return choice, memory


def _people(seen: ScaleInput, now: Figures, target: Target) -> Target:
    """What a person pinned or paused stands above every rule, but within the bounds."""
    override = seen.override
    if override is None:
        return target
    by = Evidence("by", override.by)
    if override.pinned is not None:
        return target.move(override.pinned, ReasonCode.PINNED, by)
    if override.paused:
        return target.move(now.current, ReasonCode.PAUSED, by)
    return target


def _bounds(seen: ScaleInput, target: Target) -> Target:
    """Clamp last, on every path, also on hold and without data (law 12)."""
    bounds = seen.policy.scaling
    if target.replicas < bounds.min:
        evidence = Evidence("wanted", target.replicas, bounds.min, "replicas")
        return target.move(bounds.min, ReasonCode.BELOW_MINIMUM, evidence)
    if target.replicas > bounds.max:
        evidence = Evidence("wanted", target.replicas, bounds.max, "replicas")
        return target.move(bounds.max, ReasonCode.ABOVE_MAXIMUM, evidence)
    return target


def _remember(
    seen: ScaleInput,
    wished: Wished,
    target: int,
    split: Split,
    wanted: int,
    short: Mapping[ClassName, Instant],
) -> ModelMemory:
    """Keep what came out; `wanted` is what the target would be with devices enough."""
    old, at, bounds = seen.memory, seen.at, seen.policy.scaling
    changed = old.target is not None and old.target != target
    moved = changed or old.target is None or old.split != split
    stepping = old.step_began is not None and at - old.step_began < bounds.step_period_s
    new_step = changed and not stepping
    cold = old.cold
    if cold and at - cold[0].at >= KEPT_COLD_S:
        cold = tuple(start for start in cold if at - start.at < KEPT_COLD_S)
    base = max(old.target or 0, wished.figures.ready)
    if target > base:
        cold = (*cold, ColdStart(at, target - base))
    known_wish = None if wished.wish is None else min(max(wished.wish, bounds.min), bounds.max)
    return ModelMemory(
        target=target,
        split=split,
        since=at if moved else old.since,
        changed_at=at if changed else old.changed_at,
        before_change=old.target or 0 if new_step else old.before_change,
        step_began=at if new_step else old.step_began,
        wishes=remember(old.wishes, at, known_wish, wished.figures.window_s),
        cold=cold,
        short=short,
        waiting_since=(old.waiting_since or at) if wanted > target else None,
        wanted=wanted,
        slo_broken=wished.figures.broken,
    )
