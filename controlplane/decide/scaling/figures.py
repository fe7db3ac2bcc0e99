"""The arithmetic every trigger shares: capacity, work and depth of one model, computed once.

Work is arrivals x service time, in busy slots (Little's law). A figure is None where a sample it
needs is unknown; nothing unknown is ever taken for zero.
"""

from math import ceil

import msgspec

from controlplane.decide.scaling.inputs import ScaleInput

MIN_STABILISATION_S = 120.0
STABILISATION_MARGIN_S = 30.0


class Figures(msgspec.Struct, frozen=True, gc=False):
    """One model's figures in this cycle."""

    current: int  # the target in force
    serving: int
    ready: int  # serving, promotable or loading: whatever counts as a replica
    pending: int  # promotable or loading for service: counted, not created twice (law 5)
    slots: float  # of one replica, mean over its variants as they are split
    service_s: float  # measured, else declared
    queue: float | None
    turned_away: float  # per second; 0 where unknown: it can only raise
    work: float | None  # busy slots the arrivals of the last cycle would hold
    steady_work: float | None  # … and those of `steady_s`
    utilisation: float | None
    memory: float | None
    broken: bool  # a class is turned away or waits beyond its limit
    window_s: float  # what was wished for within it may be needed again

    def replicas_for(self, work: float, ceiling: float) -> int:
        """Give the fewest replicas that hold so many busy slots under a ceiling."""
        return max(0, ceil(work / (self.slots * ceiling) - 1e-9))


def figures(seen: ScaleInput) -> Figures:
    """Compute them from one input, in one pass over the classes: this runs for every model."""
    load = seen.load
    slots, declared = _capacity(seen)
    service_s = load.service_s.x or declared
    queue: float | None = 0.0
    arrivals: float | None = 0.0
    steady: float | None = 0.0
    turned_away = 0.0
    broken = False
    objectives = seen.policy.objectives
    for priority, of_class in load.classes.items():
        # The sum of what is unknown is unknown.
        x = of_class.queue.x
        queue = None if queue is None or x is None else queue + x
        x = of_class.arrivals.x
        arrivals = None if arrivals is None or x is None else arrivals + x
        x = of_class.arrivals_steady.x
        steady = None if steady is None or x is None else steady + x
        turned_away += of_class.turned_away.x or 0.0
        wait = of_class.wait_p99.x
        if wait is not None and priority in objectives:
            broken = broken or wait > objectives[priority].wait_p99_s
    serving = loading = ready = 0
    for held in seen.held.values():
        serving += held.serving
        loading += held.loading
        ready += held.serving + held.promotable + held.loading
    current = seen.memory.target
    if current is None:  # never decided: what is there is what is wanted
        current = serving + loading
    memory = load.kv_usage.x
    return Figures(
        current=current,
        serving=serving,
        ready=ready,
        pending=max(0, current - serving),
        slots=slots,
        service_s=service_s,
        queue=queue,
        turned_away=turned_away,
        work=None if arrivals is None else arrivals * service_s,
        steady_work=None if steady is None else steady * service_s,
        utilisation=load.utilisation.x,
        memory=memory if memory is not None else load.vram.x,
        broken=broken or turned_away > 0,
        window_s=stabilisation_s(seen),
    )


def stabilisation_s(seen: ScaleInput) -> float:
    """Give the stabilisation window: as set, else the load time + 30 s, at least 120 s."""
    if seen.policy.scaling.stabilisation_s is not None:
        return seen.policy.scaling.stabilisation_s
    window = MIN_STABILISATION_S
    for facts in seen.variants:
        window = max(window, facts.load_s + STABILISATION_MARGIN_S)
    return window


def weighted_depth(seen: ScaleInput) -> float | None:
    """Give the queue depth weighted by class, as the seeds scale on; None where unknown."""
    weights = seen.policy.scaling.depth_weights
    depth = 0.0
    for priority, of_class in seen.load.classes.items():
        waiting = of_class.queue.x
        if waiting is None:
            return None
        depth += waiting * weights.get(priority, 0)
    return depth


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
