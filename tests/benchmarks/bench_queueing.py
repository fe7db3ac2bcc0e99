"""What the closed forms cost that a scaling decision asks for, and a histogram's add."""

from timeit import repeat

from controlplane.queueing.erlang import erlang_c
from controlplane.queueing.mgk import replicas_for, wait_quantile
from controlplane.queueing.percentiles import LogHistogram
from controlplane.queueing.priority import mean_waits

TIMES = 20_000


def main() -> None:
    """Print microseconds per call."""
    histogram = LogHistogram()
    cases = {
        "erlang_c, 56 slots": lambda: erlang_c(56, 43.75),
        "erlang_c, 2000 slots": lambda: erlang_c(2000, 1900.0),
        "wait_quantile of M/G/k, 56 slots": lambda: wait_quantile(350.0, 0.125, 56, 1.8),
        "mean_waits of 3 classes, 224 slots": lambda: mean_waits([200, 150, 800], 0.125, 224),
        "replicas_for, ceiling decides": lambda: replicas_for(350.0, 0.125, 1.8, 14, 0.1, 0.85),
        "replicas_for, wait decides": lambda: replicas_for(1150.0, 0.125, 1.8, 14, 0.02, 1.0),
        "histogram add": lambda: histogram.add(0.0123),
    }
    for name, call in cases.items():
        best = min(repeat(call, number=TIMES, repeat=5)) / TIMES
        print(f"{name:<38} {best * 1e6:6.2f} us")


if __name__ == "__main__":
    main()
