"""What priority is worth on a real Envoy, and how near it comes to virtual time.

    .venv/bin/python -m tests.benchmarks load

Seed-000 scaled to this machine, a burst of batch work in it: one queue beside it in the same run,
then priority alone on five seeds. What must hold is printed beside each figure. On a busy machine
`chrt -r 5` before it. One seed says little of the distance to virtual time: 17 of 1,732 requests
lie beyond the P99, and which ones hangs on a millisecond; five say what is added.
"""

import json
import subprocess
import sys
from statistics import mean
from typing import Any

MORE_THAN_SIMULATED_S, TIMES_BETTER, LONGEST_LOW_S = 0.010, 20.0, 17.0
LOAD = ("--ab", "--squeeze", "24", "--begin", "65", "--seconds", "60", "--json")
SEEDS = (1, 2, 3, 4, 5)


def main() -> None:
    report = ran("--variant", "fifo", "--variant", "priority")
    ours, fifo = (report["runs"][name]["classes"] for name in ("priority", "fifo"))
    times = fifo["high"]["wait_p99_s"] / ours["high"]["wait_p99_s"]
    print(f"fifo / priority     {times:7.1f} (at least {TIMES_BETTER:.0f})")
    print(f"low's longest wait  {ours['low']['wait_max_s']:7.2f} s (at most {LONGEST_LOW_S:.0f})")
    print(f"errors              {errors(report):7} (none)")
    alone = [ran("--variant", "priority", "--seed", str(seed)) for seed in SEEDS]
    added = [high(one)[0] - high(one)[1] for one in alone]
    limit_ms = MORE_THAN_SIMULATED_S * 1e3
    for seed, one in zip(SEEDS, alone, strict=True):
        measured, simulated = high(one)
        print(f"seed {seed}: high's P99 {measured * 1e3:.1f} ms, simulated {simulated * 1e3:.1f}")
    print(f"  {mean(added) * 1e3:+.1f} ms on the mean (at most {limit_ms:.0f} more)")
    lag = max(run["lag_p99_s"] for one in (report, *alone) for run in one["runs"].values())
    print(f"requests left up to {lag * 1e3:.1f} ms late (P99): beyond a few this machine is busy")


def ran(*words: str) -> Any:
    """Run the load and give its report."""
    done = subprocess.run(
        [sys.executable, "-m", "controlplane", "load", *LOAD, *words],
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def high(report: dict[str, Any]) -> tuple[float, float]:
    """Give high's P99 wait in seconds, measured and simulated."""
    measured = report["runs"]["priority"]["classes"]["high"]["wait_p99_s"]
    return measured, report["expected"]["priority"]["high"]["wait_p99_s"]


def errors(report: dict[str, Any]) -> int:
    """Count answers nobody meant, in all variants: 500s, resets, halves."""
    classes = [of for run in report["runs"].values() for of in run["classes"].values()]
    return sum(sum(of["broken"].values()) for of in classes)


if __name__ == "__main__":
    main()
