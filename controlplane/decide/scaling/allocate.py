"""How a target spreads over a model's variants: cheapest first up, dearest first down.

When a class is short the rest spills to the next that fits and comes back later. A class is short
when a replica has been unschedulable on it for `backoff_s`; it is then left alone for as long
(behaviour T6). What placement wants moved away is moved by shifting the split: the spare loop
drains the old replica only when the new one serves. So does a class that the catalogue no longer
offers the model: what serves there counts, and goes as soon as another class has room.
"""

from collections.abc import Mapping, Sequence

import msgspec

from controlplane.decide.scaling.figures import stabilisation_s
from controlplane.decide.scaling.inputs import Held, ScaleInput, VariantFacts
from controlplane.domain.decisions import Target
from controlplane.domain.quantities import ClassName, Instant
from controlplane.domain.reasons import Evidence, ReasonCode, Refusal

NOTHING = Held()
UNBOUNDED = 1_000_000


def shortages(seen: ScaleInput) -> dict[ClassName, Instant]:
    """Give the classes to be left alone, and until when."""
    waiting = [held for held in seen.held.values() if held.unschedulable]
    if not seen.memory.short and not waiting:
        return {}
    backoff = seen.policy.scaling.backoff_s
    short = {name: until for name, until in seen.memory.short.items() if until > seen.at}
    for name, held in seen.held.items():
        since = held.unschedulable_since
        if name not in short and since is not None and seen.at - since >= backoff:
            short[name] = seen.at + backoff
    return short


def spread(
    seen: ScaleInput, target: Target, short: Mapping[ClassName, Instant]
) -> tuple[dict[ClassName, int], Target, tuple[Refusal, ...]]:
    """Give the split of a target, the target with what was noted, and the classes refused."""
    order = _order(seen)
    split = {f.node_class: seen.memory.split.get(f.node_class, 0) for f in order}
    split, target = _give_up(seen, split, short, target)
    missing = target.replicas - sum(split.values())
    refused: tuple[Refusal, ...] = ()
    if missing < 0:
        _shrink(order, split, -missing)
    elif missing > 0:
        grown = _grow(seen, order, split, missing, short)
        refused = grown.refused
        if grown.missing:
            missing, target = _stay(seen, split, grown.missing, target)
            if order:
                # The floor holds on every path: what fits nowhere waits, visibly, on the cheapest.
                open_to = (f for f in order if f.node_class not in short)
                split[next(open_to, order[0]).node_class] += missing
        if refused:
            target = _spilled(grown, target)
    elif seen.move is None and order:
        target = _come_back(seen, order, split, short, target)
    return {name: count for name, count in split.items() if count}, target, refused


def _order(seen: ScaleInput) -> Sequence[VariantFacts]:
    """Cheapest first; a class placement wants to be left comes last."""
    if seen.move is None:
        return seen.variants
    away = seen.move[0]
    return sorted(seen.variants, key=lambda facts: facts.node_class == away)


def _cap(seen: ScaleInput, name: ClassName, short: Mapping[ClassName, Instant]) -> int:
    held = seen.held.get(name, NOTHING).scheduled
    if name in short:
        return held
    if seen.room is None or seen.room.grants is None:
        return held
    return held + seen.room.grants.get(name, 0)


def elsewhere(seen: ScaleInput) -> dict[ClassName, int]:
    """Give what has its devices on classes the catalogue no longer offers the model."""
    offered = {facts.node_class for facts in seen.variants}
    if seen.held.keys() <= offered:
        return {}
    return {
        name: held.scheduled
        for name, held in sorted(seen.held.items())
        if name not in offered and held.scheduled
    }


def _stay(
    seen: ScaleInput, split: dict[ClassName, int], missing: int, target: Target
) -> tuple[int, Target]:
    """Let what the offered classes cannot take stay where it is; give what is still missing."""
    for name, count in elsewhere(seen).items():
        stays = min(missing, count)
        if stays:
            split[name] = stays
            missing -= stays
            staying = Evidence("replicas", stays)
            target = target.note(ReasonCode.CLASS_LEFT, staying, Evidence("node_class", name))
    return missing, target


def cancel(seen: ScaleInput, target: Target, short: Mapping[ClassName, Instant]) -> Target:
    """Cancel what is unschedulable on a short class and fits on no other (law 5).

    It is still wanted: the model waits for devices, and grows again when there are some.
    """
    if not short:
        return target
    most = sum(_cap(seen, facts.node_class, short) for facts in seen.variants)
    most += sum(elsewhere(seen).values())
    if target.replicas <= most:
        return target
    names = ", ".join(sorted(short))
    return target.move(
        most,
        ReasonCode.CLASS_SHORT,
        Evidence("node_class", names),
        Evidence("wanted", target.replicas, most, "replicas"),
        Evidence("backoff", seen.policy.scaling.backoff_s, None, "s"),
    )


def _give_up(
    seen: ScaleInput,
    split: dict[ClassName, int],
    short: Mapping[ClassName, Instant],
    target: Target,
) -> tuple[dict[ClassName, int], Target]:
    """Take back what cannot be scheduled, and what placement wants moved, to be placed anew."""
    for name in short:
        if name in split:
            split[name] = min(split[name], seen.held.get(name, NOTHING).scheduled)
    if seen.move is not None and split.get(seen.move[0], 0) and seen.move[1] in split:
        away, to = seen.move
        target = target.note(ReasonCode.GIVEN_UP, Evidence("from", away), Evidence("to", to))
        split[to] += split[away]
        split[away] = 0
    return split, target


def _shrink(order: Sequence[VariantFacts], split: dict[ClassName, int], surplus: int) -> None:
    for facts in reversed(order):
        taken = min(surplus, split[facts.node_class])
        split[facts.node_class] -= taken
        surplus -= taken


class _Grown(msgspec.Struct, frozen=True, gc=False):
    """What went where, which classes could not take it all, and what is still missing."""

    given: dict[ClassName, int]
    refused: tuple[Refusal, ...]
    missing: int


def _grow(
    seen: ScaleInput,
    order: Sequence[VariantFacts],
    split: dict[ClassName, int],
    missing: int,
    short: Mapping[ClassName, Instant],
) -> _Grown:
    """Fill the classes in order."""
    given: dict[ClassName, int] = {}
    refused: tuple[Refusal, ...] = ()
    for facts in order:
        name = facts.node_class
        taken = min(missing, max(0, _cap(seen, name, short) - split[name]))
        if taken:
            given[name] = taken
            split[name] += taken
            missing -= taken
        if not missing:
            break
        code = ReasonCode.CLASS_SHORT if name in short else ReasonCode.NO_DEVICE_FREE
        wanted = Evidence("devices", facts.devices, None, "per replica")
        refused = (*refused, Refusal(name, code, (wanted,)))
    return _Grown(given, refused, missing)


def _spilled(grown: _Grown, target: Target) -> Target:
    """Note what went to a dearer class because a cheaper one could not take it."""
    cheapest = grown.refused[0].option
    dearer = [(name, count) for name, count in grown.given.items() if name != cheapest]
    if not dearer:
        return target
    went = (Evidence(name, count, None, "replicas") for name, count in dearer)
    return target.note(ReasonCode.SPILLED, Evidence("instead_of", cheapest), *went)


def _come_back(
    seen: ScaleInput,
    order: Sequence[VariantFacts],
    split: dict[ClassName, int],
    short: Mapping[ClassName, Instant],
    target: Target,
) -> Target:
    """Move one replica back to a cheaper class that has room again, when things are calm."""
    grants = seen.room.grants if seen.room is not None else None
    if not grants or len(order) < 2 or seen.at - seen.memory.since < stabilisation_s(seen):
        return target
    if any(held.loading for held in seen.held.values()):
        return target  # one at a time
    for i, cheap in enumerate(order):
        if cheap.node_class in short or not grants.get(cheap.node_class):
            continue
        for dear in reversed(order[i + 1 :]):
            if split[dear.node_class] and dear.hourly > cheap.hourly:
                split[dear.node_class] -= 1
                split[cheap.node_class] += 1
                return target.note(
                    ReasonCode.CAME_BACK,
                    Evidence("from", dear.node_class),
                    Evidence("to", cheap.node_class),
                )
    return target
