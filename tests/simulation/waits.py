"""One engine with unbounded queues and no rule but priority, and its mean waits by batches."""

from collections.abc import Mapping
from math import sqrt

import numpy as np
from scipy import stats

from controlplane.domain.policies import AdmissionPolicy, ModelPolicy, Objective, ScalingPolicy
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.simulation.arrivals import Arrivals, Poisson
from controlplane.simulation.service_times import Exponential, ServiceTime
from controlplane.simulation.streams import Stream, StreamTraffic
from controlplane.simulation.world import World, WorldSpec
from tests.builders import A100, CHAT, a_catalogue, a_model, a_variant

SERVICE_S = 0.1
WARM_UP = 2  # batches that are left out: the world starts empty


def an_engine(slots: int, rates: Mapping[Priority, float], until: float, *, fifo: bool) -> World:
    """Exponential service of 0.1 s behind Poisson arrivals."""
    policy = ModelPolicy(
        objectives={p: Objective(wait_p99_s=1.0) for p in PRIORITIES},
        scaling=ScalingPolicy(min=1, max=1),
        admission=AdmissionPolicy(
            queue_bounds=dict.fromkeys(PRIORITIES, 10**9),
            reserve=0,
            ageing_s=None,
            minimum_service_s=None,
        ),
    )
    on = {A100: a_variant(slots=slots, service_s=SERVICE_S)}
    streams = {
        str(priority): Stream(
            priority=priority,
            arrivals=Arrivals(poisson=Poisson(rate=rate)),
            service=ServiceTime(exponential=Exponential(mean_s=SERVICE_S)),
        )
        for priority, rate in rates.items()
    }
    spec = WorldSpec(
        catalogue=a_catalogue({CHAT: a_model(on=on, policy=policy)}),
        start=0.0,
        initial={CHAT: {A100: 1}},
        self_serving=True,
        fifo=fifo,
    )
    return World(spec, {CHAT: StreamTraffic(CHAT, streams, {}, 11, until=until)}, 11)


def batch_means(
    slots: int, rates: Mapping[Priority, float], *, batches: int, requests: int, fifo: bool
) -> dict[Priority, list[float]]:
    """Run batch after batch of about so many requests; give each one's mean wait by class."""
    batch_s = requests / sum(rates.values())
    world = an_engine(slots, rates, batches * batch_s, fifo=fifo)
    means: dict[Priority, list[float]] = {priority: [] for priority in PRIORITIES}
    before = dict.fromkeys(PRIORITIES, (0, 0.0))
    for batch in range(batches):
        world.advance(batch_s * (batch + 1), wake=False)
        world.observe()  # somebody always looks; the world forgets what nobody will ask for
        for priority, of_class in world.tally(CHAT).classes.items():
            (count, total), wait = before[priority], of_class.wait
            if batch >= WARM_UP and wait.count > count:
                means[priority].append((wait.total - total) / (wait.count - count))
            before[priority] = (wait.count, wait.total)
    return means


def interval_99(means: list[float]) -> tuple[float, float]:
    """Give the 99 % interval of the mean, batches taken as independent."""
    mean = float(np.mean(means))
    half = float(stats.t.ppf(0.995, len(means) - 1)) * float(np.std(means, ddof=1))
    return mean - half / sqrt(len(means)), mean + half / sqrt(len(means))
