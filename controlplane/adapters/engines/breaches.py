"""Which of a model's limits are broken as its engines say it: what wakes the loops at once.

Only edges wake: the loops look again at their period anyhow. It is a summary of the triggers of
`decide.scaling`, which alone decide; waking once too often costs one cycle.
"""

from collections.abc import Iterator

from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.policies import ModelPolicy, Objective


def broken(load: ModelLoad, policy: ModelPolicy, slots: float, declared_s: float) -> frozenset[str]:
    """Name the limits that are broken; `slots` are those of all replicas in service."""
    found = {
        f"{name}_{priority}"
        for priority, of_class in load.classes.items()
        for name, value, limit in _held(
            of_class, policy, policy.objectives.get(priority), _slot_s(load, slots, declared_s)
        )
        if value is not None and limit is not None and value > limit
    }
    usage, watermark = load.kv_usage.x, policy.scaling.watermark
    if usage is not None and watermark is not None and usage > watermark:
        found.add("kv_usage")
    return frozenset(found)


def _slot_s(load: ModelLoad, slots: float, declared_s: float) -> float:
    """Give the seconds in which a request is done somewhere in the fleet, on average."""
    return (load.service_s.x or declared_s) / slots if slots else 0.0


def _held(
    of_class: ClassLoad, policy: ModelPolicy, objective: Objective | None, slot_s: float
) -> Iterator[tuple[str, float | None, float | None]]:
    """Give what is held against which limit."""
    scaling = policy.scaling
    yield "turned_away", of_class.turned_away.x, 0.0 if scaling.turned_away else None
    yield "drain", _times(of_class.queue.x, slot_s), scaling.drain_limit_s
    yield "offered_load", _times(of_class.arrivals.x, slot_s), scaling.offered_ceiling
    if objective is not None and scaling.p99:
        yield "wait_p99", of_class.wait_p99.x, objective.wait_p99_s
        yield "latency_p99", of_class.latency_p99.x, objective.latency_p99_s


def _times(figure: float | None, by: float) -> float | None:
    return None if figure is None else figure * by
