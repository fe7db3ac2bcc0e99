"""Triggers wish: each compares one signal with its limit and says how many replicas it wants.

A trigger gets the input and the figures and returns a `Wish`, or None when it is off or its signal
is unknown. It never lowers: falling is one proposal of its own (`falling.py`), made only when no
trigger raises. Every wish is an absolute number computed from the load, never "twice what is
ready", so replicas that are still loading cannot make it cascade (behaviours T1, T2).

To add a rule: write a function here, put it into `TRIGGERS`, give it a `ReasonCode`.
"""

from collections.abc import Callable
from math import ceil
from typing import TypeAlias

import msgspec

from controlplane.decide.scaling.figures import Figures, weighted_depth
from controlplane.decide.scaling.inputs import ScaleInput
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.reasons import Evidence, ReasonCode


class Wish(msgspec.Struct, frozen=True, gc=False):
    """What a trigger wants and why. `replicas` None: it spoke, and is content."""

    replicas: int | None
    code: ReasonCode
    evidence: tuple[Evidence, ...]


# What is said in nearly every decision: Python 3.11 looks an enum's members up slowly.
TURNED_AWAY = ReasonCode.TURNED_AWAY
DRAIN_WITHIN, P99_WITHIN = ReasonCode.DRAIN_WITHIN, ReasonCode.P99_WITHIN
MEMORY_WITHIN = ReasonCode.MEMORY_WITHIN
OFFERED_LOAD_WITHIN = ReasonCode.OFFERED_LOAD_WITHIN
OFFERED_LOAD_HIGH = ReasonCode.OFFERED_LOAD_HIGH

_WAIT = {priority: f"wait_p99_{priority}" for priority in PRIORITIES}
_LATENCY = {priority: f"latency_p99_{priority}" for priority in PRIORITIES}

Trigger: TypeAlias = Callable[[ScaleInput, Figures], Wish | None]


def turned_away(seen: ScaleInput, now: Figures) -> Wish | None:
    """Capacity refused is a broken limit: size for what arrives now, with just enough."""
    if not seen.policy.scaling.turned_away or now.turned_away <= 0 or now.work is None:
        return None
    wanted = now.replicas_for(now.work, seen.policy.scaling.burst_ceiling)
    return Wish(
        wanted,
        TURNED_AWAY,
        (Evidence("turned_away", now.turned_away, 0, "/s"), _work(now)),
    )


def drain_too_slow(seen: ScaleInput, now: Figures) -> Wish | None:
    """Raise when the queue takes too long to drain; depth alone means nothing across models."""
    limit = seen.policy.scaling.drain_limit_s
    if limit is None or now.queue is None:
        return None
    throughput = now.serving * now.slots / now.service_s
    drain_s = now.queue / throughput if throughput else None
    evidence = (
        Evidence("drain", drain_s, limit, "s"),
        Evidence("queue", now.queue),
        Evidence("throughput", now.slots / now.service_s, None, "/s per replica"),
    )
    if now.queue == 0 or (drain_s is not None and drain_s <= limit):
        return Wish(None, DRAIN_WITHIN, evidence)
    to_drain = now.queue * now.service_s / limit
    wanted = now.replicas_for(to_drain + (now.work or 0.0), 1.0)
    return Wish(max(wanted, 1), ReasonCode.DRAIN_TOO_SLOW, evidence)


def p99_broken(seen: ScaleInput, now: Figures) -> Wish | None:
    """Raise when a class waits, or takes, longer than its objective allows."""
    if not seen.policy.scaling.p99 or not seen.policy.objectives:
        return None
    within: list[Evidence] = []
    for priority, objective in seen.policy.objectives.items():
        observed = seen.load.classes.get(priority)
        if observed is None:
            continue
        wait, latency = observed.wait_p99.x, observed.latency_p99.x
        evidence = Evidence(_WAIT[priority], wait, objective.wait_p99_s, "s")
        if wait is not None and wait > objective.wait_p99_s:
            return Wish(_one_more(seen, now), ReasonCode.WAIT_P99_BROKEN, (evidence, _work(now)))
        limit = objective.latency_p99_s
        # More replicas shorten waits, not services: latency counts only where waiting is in it.
        if limit is not None and latency is not None and wait and latency - wait <= limit < latency:
            served = Evidence(_LATENCY[priority], latency, limit, "s")
            return Wish(_one_more(seen, now), ReasonCode.LATENCY_P99_BROKEN, (served, evidence))
        within.append(evidence)
    return Wish(None, P99_WITHIN, tuple(within))


def memory_above_watermark(seen: ScaleInput, now: Figures) -> Wish | None:
    """Raise when the KV cache (or VRAM) is fuller than its watermark."""
    watermark = seen.policy.scaling.watermark
    if watermark is None or now.memory is None:
        return None
    evidence = Evidence("memory", now.memory, watermark, "")
    if now.memory <= watermark:
        return Wish(None, MEMORY_WITHIN, (evidence,))
    wanted = ceil(now.serving * now.memory / watermark)
    return Wish(max(wanted, now.serving + 1), ReasonCode.MEMORY_ABOVE_WATERMARK, (evidence,))


def offered_load_high(seen: ScaleInput, now: Figures) -> Wish | None:
    """Raise when arrivals, the refused ones included, need too large a share of the slots."""
    ceiling = seen.policy.scaling.offered_ceiling
    if ceiling is None or now.steady_work is None or now.work is None:
        return None
    # A burst that is over is no reason to grow; one that lasts is planned with just enough.
    work = min(now.steady_work, now.work)
    ceiling = seen.policy.scaling.burst_ceiling if now.broken else ceiling
    offered = work / (now.current * now.slots) if now.current else None
    evidence = (
        Evidence("offered_load", offered, ceiling, ""),
        Evidence("work", work, None, "slots"),
    )
    if work == 0 or (offered is not None and offered <= ceiling):
        return Wish(None, OFFERED_LOAD_WITHIN, evidence)
    return Wish(now.replicas_for(work, ceiling), OFFERED_LOAD_HIGH, evidence)


def devices_busy(seen: ScaleInput, now: Figures) -> Wish | None:
    """Raise on busy devices, but only where a queue confirms it: utilisation is not load."""
    policy = seen.policy.scaling
    ceiling = policy.utilisation_ceiling
    if ceiling is None or now.utilisation is None or now.utilisation <= ceiling:
        return None
    evidence = (
        Evidence("utilisation", now.utilisation, ceiling, ""),
        Evidence("queue", now.queue, 0),
    )
    if policy.utilisation_alone:
        return Wish(_one_more(seen, now), ReasonCode.UTILISATION_HIGH, evidence)
    # One busy slot's worth of waiting per replica: a single queued request confirms nothing.
    if now.queue is not None and now.queue > now.serving and now.broken:
        return Wish(_one_more(seen, now), ReasonCode.BUSY_AND_QUEUED, evidence)
    return None


def depth_above_target(seen: ScaleInput, now: Figures) -> Wish | None:
    """Raise on weighted queue depth per replica; what the seeds scale on, off by default."""
    policy = seen.policy.scaling
    depth = None if policy.depth_target is None else weighted_depth(seen)
    if policy.depth_target is None or depth is None:
        return None
    per_replica = depth / now.serving if now.serving else depth
    evidence = (Evidence("depth", per_replica, policy.depth_target, "per replica"),)
    if per_replica <= policy.depth_target + policy.depth_hysteresis:
        return Wish(None, ReasonCode.DEPTH_WITHIN, evidence)
    return Wish(ceil(depth / policy.depth_target), ReasonCode.DEPTH_ABOVE_TARGET, evidence)


TRIGGERS: tuple[Trigger, ...] = (
    turned_away,  # refused already: nothing is more certain
    drain_too_slow,  # waiting that will break the objective
    p99_broken,  # waiting that did
    memory_above_watermark,  # the next long prompt will not fit
    offered_load_high,  # what bounded queues hide
    devices_busy,  # only together with another
    depth_above_target,  # the seeds' way
)


def _one_more(seen: ScaleInput, now: Figures) -> int:
    """Want what the work needs, and one more than serves unless more is already on its way."""
    needed = now.replicas_for(now.work or 0.0, seen.policy.scaling.burst_ceiling)
    return max(needed, now.current if now.pending else now.current + 1)


def _work(now: Figures) -> Evidence:
    return Evidence("work", now.work, None, "slots")
