"""What priority is worth on a real Envoy, and how near it comes to virtual time.

    .venv/bin/python -m tests.benchmarks load

Seed-000 scaled to this machine, a burst of batch work in it, one queue beside it in the same run.
What must hold is printed beside each figure.
"""

import json
import subprocess
import sys
from typing import Any

MORE_THAN_SIMULATED_S, TIMES_BETTER, LONGEST_LOW_S = 0.010, 20.0, 17.0
LOAD = ("--ab", "--variant", "fifo", "--variant", "priority", "--squeeze", "24", "--begin", "65",
        "--seconds", "60", "--json")  # fmt: skip


def main() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "controlplane", "load", *LOAD], stdout=subprocess.PIPE, check=True
    )
    report = json.loads(done.stdout)
    ours, fifo = (report["runs"][name]["classes"] for name in ("priority", "fifo"))
    simulated = report["expected"]["priority"]["high"]["wait_p99_s"]
    high, broken = ours["high"]["wait_p99_s"], errors(report)
    lag = max(run["lag_p99_s"] for run in report["runs"].values())
    print(f"requests left up to {lag * 1e3:.1f} ms late (P99): beyond a few this machine is busy")
    print(f"high's P99 wait     {high * 1e3:7.1f} ms, simulated {simulated * 1e3:.1f} ms "
          f"(at most {MORE_THAN_SIMULATED_S * 1e3:.0f} ms more)")  # fmt: skip
    times = fifo["high"]["wait_p99_s"] / high
    print(f"fifo / priority     {times:7.1f} (at least {TIMES_BETTER:.0f})")
    print(f"low's longest wait  {ours['low']['wait_max_s']:7.2f} s (at most {LONGEST_LOW_S:.0f})")
    print(f"errors              {broken:7} (none)")


def errors(report: dict[str, Any]) -> int:
    """Count answers nobody meant, in all variants: 500s, resets, halves."""
    classes = [of for run in report["runs"].values() for of in run["classes"].values()]
    return sum(sum(of["broken"].values()) for of in classes)


if __name__ == "__main__":
    main()
