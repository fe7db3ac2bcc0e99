"""The proposal to fall: the fewest replicas that would still keep every promise.

Queue depth cannot drive it, for it is 0 whenever capacity suffices. The survivors are computed: by
the closed forms they must stay under the offered-load ceiling, the objectives and the watermark.
"""

from math import ceil, inf

from controlplane.decide.scaling.figures import Figures, weighted_depth
from controlplane.decide.scaling.inputs import ScaleInput
from controlplane.decide.scaling.triggers import Wish
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.queueing.priority import waits_beyond

BEYOND_P99 = 0.01


def fewer_suffice(seen: ScaleInput, now: Figures) -> Wish | None:
    """Propose the fewest replicas that hold; None where a signal it needs is unknown.

    The load must be known whole (law 1): arrivals, queue, and the refused.
    """
    if now.work is None or now.queue is None or now.steady_work is None:
        return None
    policy = seen.policy.scaling
    if policy.utilisation_floor is not None:
        return _below_floor(now, policy.utilisation_floor)
    if policy.depth_alone_falls and policy.depth_target is not None:
        return _by_depth(weighted_depth(seen), policy.depth_target)
    survivors = _survivors(seen, now)
    per_slot = now.work / (survivors * now.slots) if survivors else 0.0
    return Wish(
        survivors,
        ReasonCode.FEWER_SUFFICE,
        (
            Evidence("offered_load", per_slot, policy.offered_ceiling, ""),
            Evidence("work", now.work, None, "slots"),
        ),
    )


def survivors_would_break(seen: ScaleInput, now: Figures) -> tuple[ReasonCode, Evidence] | None:
    """Say why not even one fewer would do; None where nothing could be given up anyway."""
    if now.current <= seen.policy.scaling.min or now.work is None:
        return None
    fewer = now.current - 1
    load = now.work / (fewer * now.slots) if fewer else None
    ceiling = seen.policy.scaling.offered_ceiling
    return ReasonCode.SURVIVORS_WOULD_BREAK, Evidence("offered_load", load, ceiling, "")


def _survivors(seen: ScaleInput, now: Figures) -> int:
    policy = seen.policy.scaling
    work = now.work or 0.0
    ceiling = policy.offered_ceiling or policy.burst_ceiling
    replicas = now.replicas_for(work, ceiling)
    if policy.drain_limit_s is not None and now.queue:
        drain = now.queue * now.service_s / policy.drain_limit_s
        replicas = max(replicas, now.replicas_for(work + drain, 1.0))
    if policy.watermark is not None and now.memory is not None and now.memory > 0:
        replicas = max(replicas, ceil(now.serving * now.memory / policy.watermark - 1e-9))
    while replicas < now.current and _would_break(seen, now, replicas):
        replicas += 1
    return replicas


def _would_break(seen: ScaleInput, now: Figures, replicas: int) -> bool:
    """Say whether a class's predicted P99 wait on so many replicas breaks its objective."""
    slots = max(1, round(replicas * now.slots))
    arrivals, limits = [], []
    for priority in PRIORITIES:
        observed = seen.load.classes.get(priority)
        objective = seen.policy.objectives.get(priority)
        arrivals.append((observed.arrivals.x if observed is not None else None) or 0.0)
        limits.append(objective.wait_p99_s if objective is not None else inf)
    if not any(arrivals):
        return False  # nobody waits
    late = waits_beyond(arrivals, now.service_s, slots, limits)
    return any(
        share > BEYOND_P99 and rate > 0 and limit < inf
        for share, rate, limit in zip(late, arrivals, limits, strict=True)
    )


def _below_floor(now: Figures, floor: float) -> Wish | None:
    if now.utilisation is None:
        return None
    evidence = (Evidence("utilisation", now.utilisation, floor, ""),)
    fewer = now.current - 1 if now.utilisation < floor else now.current
    return Wish(fewer, ReasonCode.UTILISATION_LOW, evidence)


def _by_depth(depth: float | None, target: float) -> Wish | None:
    if depth is None:
        return None
    evidence = (Evidence("depth", depth, target, ""),)
    return Wish(ceil(depth / target), ReasonCode.DEPTH_WITHIN, evidence)
