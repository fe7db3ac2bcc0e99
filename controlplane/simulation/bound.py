"""The lower bound of a scenario: the perfect fleet for the very requests of a run, by model."""

import numpy as np
from numpy.typing import NDArray

from controlplane.domain.priorities import PRIORITIES
from controlplane.queueing.bound import least_replica_time
from controlplane.queueing.schedule import FleetRange
from controlplane.simulation.scenario import ScenarioModel
from controlplane.simulation.work import STEP_S


def bound_gpu_hours(model: ScenarioModel, work: NDArray[np.float64]) -> float:
    """Give the fewest device-hours that serve all of `work[class, step]` in time.

    A class without a limit has no requests. What even the largest fleet cannot serve in time is
    left out: the bound is of the rest.
    """
    longest = max(model.in_time_s.values())
    limits = [model.in_time_s.get(priority, longest) for priority in PRIORITIES]
    urgent_first = np.argsort(limits, kind="stable")
    fleet = FleetRange(
        min=model.min,
        max=model.max,
        start=model.initial,
        slots=model.slots,
        load_s=model.load_s + model.promote_s,
        step_s=STEP_S,
    )
    ordered = [limits[index] for index in urgent_first]
    bound = least_replica_time(work[urgent_first], ordered, fleet)
    return bound.device_hours(model.devices)
