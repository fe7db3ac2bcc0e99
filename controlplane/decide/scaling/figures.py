"""The arithmetic every trigger shares: capacity, work and depth of one model, computed once.

Work is arrivals x service time, in busy slots (Little's law). A figure is None where a sample it
needs is unknown; nothing unknown is ever taken for zero.
"""

from math import ceil
from typing import NamedTuple

from controlplane.decide.scaling.inputs import ScaleInput
from controlplane.domain.samples import Sample, number


class Figures(NamedTuple):
    """One model's figures in this cycle."""

    current: int  # the target in force
    serving: int
    ready: int  # serving, promotable or loading: whatever counts as a replica
    pending: int  # promotable or loading for service: counted, not created twice (law 5)
    slots: float  # of one replica, mean over its variants as they are split
    service_s: float  # measured, else declared
    queue: float | None
    depth: float | None  # weighted queue depth
    arrivals: float | None  # per second, over the last cycle
    steady: float | None  # per second, over `steady_s`
    turned_away: float  # per second; 0 where unknown: it can only raise
    work: float | None  # busy slots the arrivals of the last cycle would hold
    steady_work: float | None
    utilisation: float | None
    memory: float | None
    broken: bool  # a class is turned away or waits beyond its limit

    def replicas_for(self, work: float, ceiling: float) -> int:
        """Give the fewest replicas that hold so many busy slots under a ceiling."""
        return max(0, ceil(work / (self.slots * ceiling) - 1e-9))


def figures(seen: ScaleInput) -> Figures:
    """Compute them from one input, in one pass over the classes: this runs for every model."""
    load, policy = seen.load, seen.policy.scaling
    slots, declared = _capacity(seen)
    service_s = number(load.service_s) or declared
    queue: float | None = 0.0
    arrivals: float | None = 0.0
    steady: float | None = 0.0
    depth = turned_away = 0.0
    broken = False
    for priority, of_class in load.classes.items():
        waiting = number(of_class.queue)
        queue = None if queue is None or waiting is None else queue + waiting
        depth += (waiting or 0.0) * policy.depth_weights.get(priority, 0)
        arrivals = _plus(arrivals, of_class.arrivals)
        steady = _plus(steady, of_class.arrivals_steady)
        turned_away += number(of_class.turned_away) or 0.0
        objective = seen.policy.objectives.get(priority)
        wait = number(of_class.wait_p99)
        broken = broken or (
            objective is not None and wait is not None and wait > objective.wait_p99_s
        )
    serving = loading = ready = 0
    for held in seen.held.values():
        serving += held.serving
        loading += held.loading
        ready += held.serving + held.promotable + held.loading
    current = seen.memory.target
    if current is None:  # never decided: what is there is what is wanted
        current = serving + loading
    memory = number(load.kv_usage)
    return Figures(
        current=current,
        serving=serving,
        pending=max(0, current - serving),
        ready=ready,
        slots=slots,
        service_s=service_s,
        queue=queue,
        depth=None if queue is None else depth,
        arrivals=arrivals,
        steady=steady,
        turned_away=turned_away,
        work=None if arrivals is None else arrivals * service_s,
        steady_work=None if steady is None else steady * service_s,
        utilisation=number(load.utilisation),
        memory=memory if memory is not None else number(load.vram),
        broken=broken or turned_away > 0,
    )


def _plus(total: float | None, sample: Sample) -> float | None:
    """Add a sample to a sum; None as soon as one is unknown."""
    x = number(sample)
    return None if total is None or x is None else total + x


def _capacity(seen: ScaleInput) -> tuple[float, float]:
    """Give mean slots and declared service time of a replica, weighted by the split in force."""
    total = slots = service_s = 0.0
    for facts in seen.variants:
        weight = seen.memory.split.get(facts.node_class, 0)
        total += weight
        slots += weight * facts.slots
        service_s += weight * facts.service_s
    if total:
        return slots / total, service_s / total
    if seen.variants:
        return float(seen.variants[0].slots), seen.variants[0].service_s
    return 1.0, 1.0
