"""The arithmetic every trigger shares: capacity, work and depth of one model, computed once.

Work is arrivals x service time, in busy slots (Little's law). A figure is None where a sample it
needs is unknown; nothing unknown is ever taken for zero.
"""

from math import ceil
from typing import NamedTuple

from controlplane.decide.scaling.inputs import ScaleInput
from controlplane.domain.load import ClassLoad
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.samples import Sample, number


class Figures(NamedTuple):
    """One model's figures in this cycle."""

    current: int  # the target in force
    serving: int
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
    """Compute them from one input."""
    load, policy = seen.load, seen.policy.scaling
    slots, declared = _capacity(seen)
    service_s = number(load.service_s) or declared
    classes = [load.classes.get(priority, ClassLoad()) for priority in PRIORITIES]
    queue = _sum([c.queue for c in classes])
    arrivals = _sum([c.arrivals for c in classes])
    steady = _sum([c.arrivals_steady for c in classes])
    turned_away = sum(number(c.turned_away) or 0.0 for c in classes)
    depth = None
    if queue is not None:
        weights = policy.depth_weights
        depth = sum(
            weights.get(priority, 0) * (number(c.queue) or 0.0)
            for priority, c in zip(PRIORITIES, classes, strict=True)
        )
    serving = sum(held.serving for held in seen.held.values())
    current = seen.memory.target
    if current is None:  # never decided: what is there is what is wanted
        current = serving + sum(held.loading for held in seen.held.values())
    memory = number(load.kv_usage)
    return Figures(
        current=current,
        serving=serving,
        pending=max(0, current - serving),
        slots=slots,
        service_s=service_s,
        queue=queue,
        depth=depth,
        arrivals=arrivals,
        steady=steady,
        turned_away=turned_away,
        work=None if arrivals is None else arrivals * service_s,
        steady_work=None if steady is None else steady * service_s,
        utilisation=number(load.utilisation),
        memory=memory if memory is not None else number(load.vram),
        broken=turned_away > 0 or _waits_broken(seen),
    )


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


def _sum(samples: list[Sample]) -> float | None:
    """Add samples up; None as soon as one is unknown."""
    total = 0.0
    for sample in samples:
        x = number(sample)
        if x is None:
            return None
        total += x
    return total


def _waits_broken(seen: ScaleInput) -> bool:
    for priority, objective in seen.policy.objectives.items():
        observed = seen.load.classes.get(priority)
        wait = number(observed.wait_p99) if observed is not None else None
        if wait is not None and wait > objective.wait_p99_s:
            return True
    return False
