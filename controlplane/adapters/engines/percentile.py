"""P99 from an engine's buckets, and whether the buckets can tell.

Within a bucket requests are taken as evenly spread, as Prometheus does. In the lowest bucket that
is a bad guess (a wait is mostly 0, and the lowest bound of vLLM's is 0.3 s), but there the mean
gives a bound that always holds: not more than a hundredth of all can be above 100 times the mean
(Markov). Where the limit lies between what is certain and what is possible, the answer is that the
buckets are too coarse: no number.
"""

from collections.abc import Mapping
from math import inf

from controlplane.domain.quantities import Instant
from controlplane.domain.samples import IDLE, Absence, NoData, Sample, reading

SHARE = 0.99


def p99(
    counts: Mapping[float, float], total_s: float, limit_s: float | None, at: Instant
) -> Sample:
    """Give the P99 of what fell into the buckets (upper bound: how many), against a limit."""
    ordered = sorted(counts.items())
    requests = sum(count for _, count in ordered)
    if requests <= 0:
        return IDLE
    rank, below, lower = SHARE * requests, 0.0, 0.0
    upper, count = ordered[-1]
    for upper, count in ordered:
        if below + count >= rank - 1e-9:
            break
        below, lower = below + count, upper
    if upper == inf:  # beyond the last bound: at least that much
        return reading(lower, at)
    at_most = min(upper, total_s / requests / (1.0 - SHARE)) if lower == 0.0 else upper
    value = min(at_most, lower + (upper - lower) * (rank - below) / count)
    if lower == 0.0 and limit_s is not None and limit_s < at_most:
        note = f"between 0 and {at_most:g} s: the buckets cannot tell it from {limit_s:g} s"
        return NoData(Absence.TOO_COARSE, note)
    return reading(value, at)
