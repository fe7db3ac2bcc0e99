"""One sample of a model from the samples of its replicas, and the class that stands for all.

Sources that know no priority classes report into one of them, the one with the strictest promise on
waiting: all wait alike behind one another, so that promise is the first to break.
"""

from collections.abc import Sequence

from controlplane.domain.policies import ModelPolicy
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.samples import Absence, NoData, Sample, Stale, Value, Zero, reading

ENOUGH = 0.5  # share of the replicas that must be known to speak for all


def gathered(samples: Sequence[Sample], parts: int) -> Sample:
    """Give the mean, times `parts` (1, or how many there are for a sum).

    Where some are missing the others speak for them, if they are at least half. Where nothing is
    known at all: the one reason all share, else that they are too few.
    """
    numbers = [sample for sample in samples if isinstance(sample, Value | Zero)]
    if numbers and len(numbers) >= ENOUGH * len(samples):
        mean = sum(sample.x for sample in numbers) / len(numbers)
        return reading(mean * parts, min(sample.at for sample in numbers))
    ages = [sample.age_s for sample in samples if isinstance(sample, Stale)]
    if ages and not numbers:
        return Stale(min(ages))
    if not numbers and len({_kind(sample) for sample in samples}) == 1:
        return samples[0]
    note = f"{len(numbers)} of {len(samples)} replicas are known"
    return NoData(Absence.TOO_FEW, note)


def _kind(sample: Sample) -> str:
    return sample.why if isinstance(sample, NoData) else type(sample).__name__


def class_of(policy: ModelPolicy) -> Priority:
    """Give the class that stands for all, where a source knows none."""
    promised = [priority for priority in PRIORITIES if priority in policy.objectives]
    if not promised:
        return Priority.MEDIUM
    return min(promised, key=lambda p: policy.objectives[p].wait_p99_s)
