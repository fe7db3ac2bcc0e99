"""How many requests a second `simulate` passes, decisions and all, and the memory it takes.

    python -m tests.benchmarks simulate

Processor seconds, because the wall's depend on who else works on this machine; and beside them
what a bare heap of completions passes just before, for machines differ. Each is the median of some
rounds. Limit: 400,000 a second where that passes 1.9 million, so 0.21 of it.
"""

import resource
from heapq import heappop, heappush
from random import Random
from statistics import median
from time import process_time

from controlplane.simulation.execution import run_scenario

RUNS = (
    ("static:4", False),
    ("controlplane", False),
    ("controlplane:service", False),
    ("hpa:0.7", False),
    ("keda-queue:10", False),
    ("kpa", False),
    ("controlplane", True),
)
ROUNDS = 5


def bare_heap(requests: int = 1_000_000) -> float:
    """Pass requests through nothing but a heap of completions; give how many a second."""
    chance = Random(1)
    gaps = [chance.expovariate(100.0) for _ in range(requests)]
    services = [chance.expovariate(8.0) for _ in range(requests)]
    began, now, heap = process_time(), 0.0, list[float]()
    for gap, service in zip(gaps, services, strict=True):
        now += gap
        while heap and heap[0] <= now:
            heappop(heap)
        heappush(heap, now + service)
    return requests / (process_time() - began)


def simulated(policy: str, *, fifo: bool) -> float:
    """Run scenario seed-000; give how many requests a second passed."""
    began = process_time()
    report = run_scenario("seed-000", policy, 1, fifo=fifo)
    seconds = process_time() - began
    arrived: int = sum(c["arrived"] for c in report["classes"].values())
    return arrived / seconds


def main() -> None:
    """Print a line for each policy."""
    for policy, fifo in RUNS:
        rounds = [(bare_heap(), simulated(policy, fifo=fifo)) for _ in range(ROUNDS)]
        ratio = median(passed / bare for bare, passed in rounds)
        bare, passed = (median(column) for column in zip(*rounds, strict=True))
        print(f"seed-000 {policy}{' --fifo' * fifo}: {passed:,.0f} requests/s")
        print(f"  {ratio:.2f} of a bare heap's {bare:,.0f} (limit 0.21)")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{memory:.0f} MB at most")


if __name__ == "__main__":
    main()
