"""How many requests a second `simulate` passes, decisions and all, and the memory it takes.

    python -m tests.benchmarks simulate

Processor seconds, because the wall's depend on who else works on this machine; and beside them
what a bare heap of completions passes in the same run, for machines differ. Limit: 400,000 a
second where that passes 1.9 million, so 0.21 of it.
"""

import resource
from heapq import heappop, heappush
from random import Random
from time import process_time

from controlplane.simulation.execution import run_scenario

POLICIES = ("static:4", "controlplane", "hpa:0.7")


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


def main() -> None:
    """Print a line for each policy."""
    bare = bare_heap()
    print(f"a bare heap of completions: {bare:,.0f} requests/s")
    for policy in POLICIES:
        began = process_time()
        report = run_scenario("seed-000", policy, 1)
        seconds = process_time() - began
        arrived = sum(c["arrived"] for c in report["classes"].values())
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"seed-000 {policy}: {arrived / seconds:,.0f} requests/s, {memory:.0f} MB at most")
        print(f"  {arrived / seconds / bare:.2f} of the bare heap (limit 0.21)")


if __name__ == "__main__":
    main()
