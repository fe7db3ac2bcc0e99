"""The dumbest possible simulations, against which closed forms are held."""

import heapq
from bisect import bisect
from collections import deque
from collections.abc import Callable
from itertools import accumulate
from random import Random

Draw = Callable[[Random], float]


def waits_first_come(arrivals: float, service: Draw, slots: int, n: int, seed: int) -> list[float]:
    """Poisson arrivals, `slots` slots, first come first served: each takes the slot free first."""
    rng = Random(seed)
    free_at = [0.0] * slots
    now, waits = 0.0, []
    for _ in range(n):
        now += rng.expovariate(arrivals)
        start = max(now, free_at[0])
        heapq.heapreplace(free_at, start + service(rng))
        waits.append(start - now)
    return waits


def waits_by_class(
    arrivals: list[float], service: Draw, slots: int, n: int, seed: int
) -> list[list[float]]:
    """Poisson arrivals of several classes; a slot that frees takes the highest class waiting."""
    rng = Random(seed)
    queues: list[deque[float]] = [deque() for _ in arrivals]
    busy: list[float] = []
    waits: list[list[float]] = [[] for _ in arrivals]
    bounds = list(accumulate(arrivals))
    now = 0.0
    for _ in range(n):
        now += rng.expovariate(bounds[-1])
        while busy and busy[0] <= now:
            ended = heapq.heappop(busy)
            rank = next((rank for rank, queue in enumerate(queues) if queue), None)
            if rank is not None:
                waits[rank].append(ended - queues[rank].popleft())
                heapq.heappush(busy, ended + service(rng))
        rank = bisect(bounds, rng.random() * bounds[-1])
        if len(busy) < slots:
            waits[rank].append(0.0)
            heapq.heappush(busy, now + service(rng))
        else:
            queues[rank].append(now)
    return waits
