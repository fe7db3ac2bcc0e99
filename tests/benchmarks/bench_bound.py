"""The lower bound of a day with a burst every hour; it should be exact in about a second."""

from time import process_time

import numpy as np

from controlplane.queueing.bound import least_replica_time
from controlplane.queueing.fluid import Array
from controlplane.queueing.schedule import FleetRange
from controlplane.queueing.service_fit import Pareto

HOURS, STEPS_AN_HOUR = 24, 720


def a_day(seed: int) -> Array:
    """Draw high 200/s, medium 150/s, low 800/s for two minutes at every half past."""
    rng = np.random.default_rng(seed)
    rates = np.zeros((3, HOURS * STEPS_AN_HOUR))
    rates[0], rates[1] = 200.0, 150.0
    for hour in range(HOURS):
        rates[2, hour * STEPS_AN_HOUR + 360 : hour * STEPS_AN_HOUR + 384] = 800.0
    counts = rng.poisson(rates * 5.0)
    family = Pareto.of_mean(0.125, 2.2, clip=15.0)
    served = family.smallest * (1.0 - rng.random(int(counts.sum()))) ** (-1.0 / family.shape)
    step = np.repeat(np.arange(counts.size), counts.ravel())
    work = np.bincount(step, np.minimum(served, family.clip), counts.size)
    return np.asarray(work.reshape(counts.shape), dtype=np.float64)


def main() -> None:
    """Print the bound of three days and what finding each took."""
    fleet = FleetRange(min=4, max=12, start=4, slots=14, load_s=100.0)
    for seed in range(3):
        work = a_day(seed)
        began = process_time()
        bound = least_replica_time(work, (0.1, 0.8, 10.0), fleet)
        took = process_time() - began
        how = "exact" if bound.exact else "not proven"
        print(f"seed {seed}: {bound.device_hours():.2f} GPU-hours, {how}, {took:.2f} s of CPU")


if __name__ == "__main__":
    main()
