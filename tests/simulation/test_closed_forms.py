"""The whole chain (arrivals, front door, engines) against queueing theory, by batch means."""

from collections.abc import Mapping
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.policies import AdmissionPolicy, ModelPolicy, Objective, ScalingPolicy
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.queueing.erlang import mean_wait
from controlplane.queueing.priority import mean_waits
from controlplane.simulation.arrivals import Arrivals, Poisson
from controlplane.simulation.service_times import Exponential, ServiceTime
from controlplane.simulation.streams import Stream, StreamTraffic
from controlplane.simulation.world import World, WorldSpec
from tests.builders import A100, CHAT, a_catalogue, a_model, a_variant

BATCHES = 27
WARM_UP = 2  # batches that are left out: the world starts empty
SERVICE_S = 0.1


def a_world(slots: int, rates: Mapping[Priority, float], *, fifo: bool) -> tuple[World, float]:
    """One engine, unbounded queues, no rule but priority. Give also the length of a batch."""
    admission = AdmissionPolicy(
        queue_bounds=dict.fromkeys(PRIORITIES, 10**9),
        reserve=0,
        ageing_s=None,
        minimum_service_s=None,
    )
    policy = ModelPolicy(
        objectives={p: Objective(wait_p99_s=1.0) for p in PRIORITIES},
        scaling=ScalingPolicy(min=1, max=1),
        admission=admission,
    )
    on = {A100: a_variant(slots=slots, service_s=SERVICE_S)}
    catalogue: Catalogue = a_catalogue({CHAT: a_model(on=on, policy=policy)})
    streams = {
        str(priority): Stream(
            priority=priority,
            arrivals=Arrivals(poisson=Poisson(rate=rate)),
            service=ServiceTime(exponential=Exponential(mean_s=SERVICE_S)),
        )
        for priority, rate in rates.items()
    }
    spec = WorldSpec(
        catalogue=catalogue, start=0.0, initial={CHAT: {A100: 1}}, self_serving=True, fifo=fifo
    )
    batch_s = 8_000 / sum(rates.values())
    until = batch_s * BATCHES
    return World(spec, {CHAT: StreamTraffic(CHAT, streams, {}, 11, until=until)}, 11), batch_s


def batch_means(world: World, batch_s: float) -> dict[Priority, list[float]]:
    """Run batch after batch; give each one's mean wait by class."""
    means: dict[Priority, list[float]] = {priority: [] for priority in PRIORITIES}
    before = dict.fromkeys(PRIORITIES, (0, 0.0))
    for batch in range(BATCHES):
        world.advance(batch_s * (batch + 1), wake=False)
        world.observe()  # somebody always looks; the world forgets what nobody will ask for
        for priority, of_class in world.tally(CHAT).classes.items():
            (count, total), wait = before[priority], of_class.wait
            if batch >= WARM_UP and wait.count > count:
                means[priority].append((wait.total - total) / (wait.count - count))
            before[priority] = (wait.count, wait.total)
    return means


def interval_99(means: list[float]) -> tuple[float, float]:
    mean = float(np.mean(means))
    half = float(stats.t.ppf(0.995, len(means) - 1)) * float(np.std(means, ddof=1))
    return mean - half / sqrt(len(means)), mean + half / sqrt(len(means))


@pytest.mark.parametrize(("slots", "load"), [(1, 0.8), (2, 0.7), (3, 0.5), (4, 0.8)])
def test_mean_waits_are_erlangs(slots: int, load: float) -> None:
    rate = load * slots / SERVICE_S
    world, batch_s = a_world(slots, {Priority.HIGH: rate}, fifo=True)
    low, high = interval_99(batch_means(world, batch_s)[Priority.HIGH])

    assert low < mean_wait(rate, SERVICE_S, slots) < high


@pytest.mark.parametrize("slots", [1, 4])
def test_mean_waits_by_priority_are_cobhams(slots: int) -> None:
    rates = [0.3 * slots / SERVICE_S, 0.25 * slots / SERVICE_S, 0.2 * slots / SERVICE_S]
    world, batch_s = a_world(slots, dict(zip(PRIORITIES, rates, strict=True)), fifo=False)
    means = batch_means(world, batch_s)

    for priority, expected in zip(PRIORITIES, mean_waits(rates, SERVICE_S, slots), strict=True):
        low, high = interval_99(means[priority])
        assert low < expected < high
