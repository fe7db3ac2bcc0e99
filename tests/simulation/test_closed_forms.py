"""The whole chain (arrivals, front door, engines) against queueing theory, by batch means.

With ten million requests: python -m tests.benchmarks waits.
"""

import pytest

from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.queueing.erlang import mean_wait
from controlplane.queueing.priority import mean_waits
from tests.simulation.waits import SERVICE_S, batch_means, interval_99


@pytest.mark.parametrize(("slots", "load"), [(1, 0.8), (2, 0.7), (3, 0.5), (4, 0.8)])
def test_mean_waits_are_erlangs(slots: int, load: float) -> None:
    rate = load * slots / SERVICE_S
    means = batch_means(slots, {Priority.HIGH: rate}, batches=27, requests=8000, fifo=True)
    low, high = interval_99(means[Priority.HIGH])

    assert low < mean_wait(rate, SERVICE_S, slots) < high


@pytest.mark.parametrize("slots", [1, 4])
def test_mean_waits_by_priority_are_cobhams(slots: int) -> None:
    rates = [0.3 * slots / SERVICE_S, 0.25 * slots / SERVICE_S, 0.2 * slots / SERVICE_S]
    by_class = dict(zip(PRIORITIES, rates, strict=True))
    means = batch_means(slots, by_class, batches=27, requests=8000, fifo=False)

    for priority, expected in zip(PRIORITIES, mean_waits(rates, SERVICE_S, slots), strict=True):
        low, high = interval_99(means[priority])
        assert low < expected < high
