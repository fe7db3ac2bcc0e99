"""The figures an external scaler gives for a model: whole numbers at or above 0, or none at all.

Whole, because a KEDA before 2.17 reads nothing else, and the newer ones must read the same. So that
nothing is lost by rounding, times are in milliseconds and waits in thousandths of their objective.

A figure that cannot be known is None, never 0 (law 1). A class without requests has no percentile,
and that counts as 0: nobody waits.
"""

from collections.abc import Mapping
from math import ceil, isfinite

import msgspec

from controlplane.domain.handover import ScalerMetric
from controlplane.domain.load import ModelLoad
from controlplane.domain.policies import ModelPolicy, ScalingPolicy
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import ClassName, Instant, ModelName
from controlplane.domain.samples import IDLE

MILLI = 1000
MOST = 2**53  # beyond, a double no longer holds every whole number
SEED_WEIGHTS = {Priority.HIGH: 3, Priority.MEDIUM: 2, Priority.LOW: 1}
SEED_DEPTH, SEED_HYSTERESIS = 5.0, 0.5


class Serving(msgspec.Struct, frozen=True, kw_only=True):
    """What serves a model now."""

    replicas: int
    slots: float  # of one replica
    service_s: float  # measured, else declared


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """One model's figures."""

    model: ModelName
    at: Instant
    queue: int | None = None  # waiting now, all classes
    drain: int | None = None  # milliseconds
    wait_p99: int | None = None  # thousandths of the objective, of the class that is worst off
    weighted_depth: int | None = None
    target: Mapping[ClassName, int] = {}  # replicas wanted, spares and those that drain included

    def of(self, metric: ScalerMetric, node_class: ClassName) -> int | None:
        """Give one of them."""
        if metric == "target":
            return self.target.get(node_class)
        found: int | None = getattr(self, metric)
        return found


def figures(
    load: ModelLoad,
    policy: ModelPolicy,
    serving: Serving,
    target: Mapping[ClassName, int],
) -> Figures:
    """Give a model's figures."""
    queue = _queue(load)
    return Figures(
        model=load.model,
        at=load.at,
        queue=queue,
        drain=_drain(queue, serving),
        wait_p99=_worst_wait(load, policy),
        weighted_depth=weighted_depth(load, policy.scaling, serving.replicas),
        target={name: whole(wanted) for name, wanted in target.items()},
    )


def whole(x: float) -> int:
    """Give a whole number from 0 up to what both fields of a metric can hold."""
    if isfinite(x):
        return min(MOST, max(0, round(x)))
    return MOST if x > 0 else 0  # not a number is 0 here; samples let none through


def weighted_depth(load: ModelLoad, policy: ScalingPolicy, replicas: int) -> int | None:
    """Give the queue weighted by class (3, 2, 1), held still between target and hysteresis.

    In that band the value is exactly what the replicas there are stand for, so that KEDA neither
    raises nor lowers: it rises only above `target + hysteresis`, and falls only below `target`.
    """
    own = policy.depth_target is not None
    weights: Mapping[Priority, int] = policy.depth_weights if own else SEED_WEIGHTS
    if load.unclassed or len(load.classes) == 1:  # then each request counts once
        weights = dict.fromkeys(PRIORITIES, 1)
    depth = 0.0 if load.classes else None
    for priority, of_class in load.classes.items():
        waiting = of_class.queue.x
        weight = weights.get(priority, 0)
        depth = None if depth is None or waiting is None else depth + waiting * weight
    if depth is None:
        return None
    per_replica = max(1, round(policy.depth_target or SEED_DEPTH))
    hysteresis = policy.depth_hysteresis if own else SEED_HYSTERESIS
    held = per_replica * replicas
    if held <= depth <= held + hysteresis * replicas:
        return whole(held)
    return whole(ceil(depth))


def _queue(load: ModelLoad) -> int | None:
    waiting = [of_class.queue.x for of_class in load.classes.values()]
    known = [x for x in waiting if x is not None]
    return whole(sum(known)) if known and len(known) == len(waiting) else None


def _drain(queue: int | None, serving: Serving) -> int | None:
    """Give the time the queue needs to drain; with nobody serving, what one replica would need."""
    if queue is None:
        return None
    slots = max(1, serving.replicas) * max(serving.slots, 1.0)
    return whole(MILLI * queue * serving.service_s / slots)


def _worst_wait(load: ModelLoad, policy: ModelPolicy) -> int | None:
    """Give the worst class's P99 wait; one over its limit speaks even where others are silent."""
    felt = [
        (of_class.wait_p99, policy.objectives[priority].wait_p99_s)
        for priority, of_class in load.classes.items()
        if priority in policy.objectives
    ]
    known = [(wait.x or 0.0) / limit for wait, limit in felt if wait.x is not None or wait == IDLE]
    worst = max(known, default=0.0)
    if not felt or (len(known) < len(felt) and worst <= 1):
        return None
    return whole(MILLI * worst)
