"""From what an HPA wants to what it does: stabilisation, rate limits, bounds.

With `behavior` set (its defaults here are the documented ones) both directions have a
stabilisation window and rate policies; without it the older rule holds, kept as `legacy`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal, NamedTuple

from controlplane.domain.quantities import Instant

Select = Literal["Max", "Min", "Disabled"]


@dataclass(frozen=True, slots=True)
class RatePolicy:
    """At most so many pods, or so many per cent, within a period."""

    kind: Literal["Pods", "Percent"]
    value: int
    period_s: float


@dataclass(frozen=True, slots=True)
class Rules:
    """One direction's rules."""

    stabilization_s: float
    policies: tuple[RatePolicy, ...]
    select: Select = "Max"


UP = Rules(0.0, (RatePolicy("Pods", 4, 15.0), RatePolicy("Percent", 100, 15.0)))
DOWN = Rules(300.0, (RatePolicy("Percent", 100, 15.0),))


@dataclass(frozen=True, slots=True)
class Behavior:
    """spec.behavior, with the documented defaults."""

    up: Rules = UP
    down: Rules = DOWN


class Bounds(NamedTuple):
    """minReplicas and maxReplicas."""

    least: int
    most: int


class Stamped(NamedTuple):
    """A figure and when it was: a recommendation, or how far a rescale went."""

    at: Instant
    replicas: int


@dataclass(frozen=True, slots=True)
class HpaMemory:
    """What the controller remembers: raw recommendations and the rescales it made."""

    recommendations: tuple[Stamped, ...] = ()
    rises: tuple[Stamped, ...] = ()
    falls: tuple[Stamped, ...] = ()


def first_sight(now: Instant, current: int) -> HpaMemory:
    """Begin with the present size as a recommendation, so a restart does not scale down."""
    return HpaMemory(recommendations=(Stamped(now, current),))


def normalised(
    now: Instant,
    current: int,
    desired: int,
    bounds: Bounds,
    behavior: Behavior,
    memory: HpaMemory,
) -> tuple[int, HpaMemory]:
    """Give the replicas to set now, and what to remember."""
    if current > bounds.most or current < bounds.least:  # at once, without stabilisation
        return max(bounds.least, min(current, bounds.most)), memory
    stable = _stabilised(now, current, desired, behavior, memory.recommendations)
    memory = replace(memory, recommendations=_kept(now, desired, behavior, memory.recommendations))
    if stable > current:
        limit = max(_highest(now, current, behavior.up, memory), current)
        return min(stable, limit, bounds.most), memory
    if stable < current:
        limit = min(_lowest(now, current, behavior.down, memory), current)
        return max(stable, limit, bounds.least), memory
    return current, memory


def rescaled(now: Instant, before: int, after: int, memory: HpaMemory) -> HpaMemory:
    """Remember a rescale that succeeded."""
    if after > before:
        return replace(memory, rises=(*memory.rises, Stamped(now, after - before))[-200:])
    if after < before:
        return replace(memory, falls=(*memory.falls, Stamped(now, before - after))[-200:])
    return memory


def legacy(
    now: Instant, current: int, desired: int, bounds: Bounds, memory: HpaMemory
) -> tuple[int, HpaMemory]:
    """The rule without `behavior`: highest wish of 300 s, at most double (or 4)."""
    if current > bounds.most or current < bounds.least:
        return max(bounds.least, min(current, bounds.most)), memory
    recent = [one for one in memory.recommendations if one.at >= now - DOWN.stabilization_s]
    highest = max([desired, *(one.replicas for one in recent)])
    limit = min(bounds.most, max(2 * current, 4))
    kept = (*recent, Stamped(now, desired))
    return max(bounds.least, min(highest, limit)), replace(memory, recommendations=kept)


def _stabilised(
    now: Instant, current: int, desired: int, behavior: Behavior, past: Sequence[Stamped]
) -> int:
    up_cutoff = now - behavior.up.stabilization_s
    down_cutoff = now - behavior.down.stabilization_s
    up = min([desired, *(one.replicas for one in past if one.at > up_cutoff)])
    down = max([desired, *(one.replicas for one in past if one.at > down_cutoff)])
    return min(max(current, up), down)  # up <= desired <= down


def _kept(
    now: Instant, desired: int, behavior: Behavior, past: Sequence[Stamped]
) -> tuple[Stamped, ...]:
    oldest = now - max(behavior.up.stabilization_s, behavior.down.stabilization_s)
    return (*(one for one in past if one.at > oldest), Stamped(now, desired))


def _highest(now: Instant, current: int, rules: Rules, memory: HpaMemory) -> int:
    if rules.select == "Disabled":
        return current
    proposals = []
    for policy in rules.policies:
        start = _period_start(now, current, policy, memory)
        grown = start + policy.value if policy.kind == "Pods" else _percent(start, policy.value)
        proposals.append(grown)
    return max(proposals) if rules.select == "Max" else min(proposals)


def _lowest(now: Instant, current: int, rules: Rules, memory: HpaMemory) -> int:
    if rules.select == "Disabled":
        return current
    proposals = []
    for policy in rules.policies:
        start = _period_start(now, current, policy, memory)
        pods = policy.kind == "Pods"
        shrunk = start - policy.value if pods else int(start * (1 - policy.value / 100))
        proposals.append(shrunk)
    return min(proposals) if rules.select == "Max" else max(proposals)


def _percent(start: int, value: int) -> int:
    return ceil(start * (1 + value / 100))


def _period_start(now: Instant, current: int, policy: RatePolicy, memory: HpaMemory) -> int:
    """Replicas at the period's begin: what was added since taken off, what left put back."""
    cutoff = now - policy.period_s
    added = sum(one.replicas for one in memory.rises if one.at > cutoff)
    removed = sum(one.replicas for one in memory.falls if one.at > cutoff)
    return current - added + removed
