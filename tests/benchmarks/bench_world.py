"""How many requests a second the world passes, beside a bare heap loop on the same requests.

    python -m tests.benchmarks world

Scenario seed-000's load on its four replicas, looked at every 5 s and whenever the world wakes.
The bare loop (push an end, pop what has ended; no slots, no classes, no queue) tells how fast the
machine is just now: compare ratios, not seconds.
"""

from collections.abc import Iterator
from dataclasses import replace
from heapq import heappop, heappush
from time import process_time

import numpy as np

from controlplane.domain.policies import Objective
from controlplane.domain.priorities import PRIORITIES
from controlplane.simulation.traffic import Chunk
from controlplane.simulation.world import World
from tests.simulation.world.fleets import CHAT, START, a_catalogue, a_model, a_world

ROUNDS = 3  # the best of them counts
HOURS = 2
BURSTS = (1800.0, 5400.0)


def seed_000(seed: int = 1) -> Chunk:
    """Draw the requests of two hours."""
    chance = np.random.default_rng(seed)
    seconds = HOURS * 3600.0
    stretches = [(200.0, 0, 0.0, seconds), (150.0, 1, 0.0, seconds)]
    stretches += [(800.0, 2, start, start + 120.0) for start in BURSTS]
    at, rank = [], []
    for rate, of, start, end in stretches:
        count = chance.poisson(rate * (end - start))
        at.append(chance.uniform(start, end, count))
        rank.append(np.full(count, of, np.int8))
    arrivals, ranks = np.concatenate(at), np.concatenate(rank)
    order = np.argsort(arrivals)
    shape = 2.2
    scale = 0.125 * (shape - 1) / shape
    service = np.minimum(scale * chance.random(len(order)) ** (-1 / shape), 15.0)
    return Chunk(arrivals[order], ranks[order], service)


class Given:
    """Traffic that was drawn before."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk

    def chunks(self) -> Iterator[Chunk]:
        yield self.chunk


def through_the_world(chunk: Chunk) -> float:
    """Give the processor seconds it takes."""
    model = a_model(slots=14, service_s=0.125)
    limits = dict(zip(PRIORITIES, (0.1, 0.8, 10.0), strict=True))
    objectives = {p: Objective(wait_p99_s=limit) for p, limit in limits.items()}
    policy = replace(model.policy, objectives=objectives, admission=type(model.policy.admission)())
    catalogue = a_catalogue({CHAT: replace(model, policy=policy)}, nodes=2)
    began = process_time()
    world = a_world(catalogue=catalogue, serving=4, traffic={CHAT: Given(chunk)})
    drive(world, HOURS * 3600.0)
    world.tally(CHAT)
    return process_time() - began


def drive(world: World, seconds: float) -> None:
    """Look every 5 s and whenever woken."""
    due = 5.0
    while world.now < START + seconds:
        if world.advance(START + due) >= START + due:
            due += 5.0
        world.observe()


def bare(chunk: Chunk) -> float:
    """Give the processor seconds of the loop that everything else is added to."""
    began = process_time()
    ends: list[tuple[float, int]] = [(float("inf"), 0)]
    for number, (at, service) in enumerate(
        zip(chunk.at.tolist(), chunk.service_s.tolist(), strict=True)
    ):
        while ends[0][0] <= at:
            heappop(ends)
        heappush(ends, (at + service, number))
    return process_time() - began


def main() -> None:
    """Print both rates and their ratio, the best of some rounds."""
    chunk = seed_000()
    times = [(through_the_world(chunk), bare(chunk)) for _ in range(ROUNDS)]
    world, loop = (len(chunk.at) / min(column) for column in zip(*times, strict=True))
    print(f"{len(chunk.at):,} requests: {world:,.0f}/s through the world")
    print(f"{loop:,.0f}/s through a bare loop, ratio {world / loop:.2f}")


if __name__ == "__main__":
    main()
