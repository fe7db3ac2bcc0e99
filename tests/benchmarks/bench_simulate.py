"""How many requests a second `simulate` passes, decisions and all, and the memory it takes.

    python -m tests.benchmarks simulate

Processor seconds, because the wall's depend on who else works on this machine.
"""

import resource
from time import process_time

from controlplane.simulation.execution import run_scenario

POLICIES = ("static:4", "controlplane", "hpa:0.7")


def main() -> None:
    """Print a line for each policy."""
    for policy in POLICIES:
        began = process_time()
        report = run_scenario("seed-000", policy, 1)
        seconds = process_time() - began
        arrived = sum(c["arrived"] for c in report["classes"].values())
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"seed-000 {policy}: {arrived / seconds:,.0f} requests/s, {memory:.0f} MB at most")


if __name__ == "__main__":
    main()
