"""How near simulated waits come to Erlang C with ten million requests, and how wide the doubt is.

    python -m tests.benchmarks waits

The interval's half-width must be within 2 % of the closed form for up to 4 slots at 80 % load.
"""

from controlplane.domain.priorities import Priority
from controlplane.queueing.erlang import mean_wait
from tests.simulation.waits import SERVICE_S, batch_means, interval_99

REQUESTS = 10_000_000
BATCHES = 50
LOAD = 0.8


def main() -> None:
    """Print a line for each number of slots."""
    for slots in (1, 2, 3, 4):
        rate = LOAD * slots / SERVICE_S
        means = batch_means(
            slots, {Priority.HIGH: rate}, batches=BATCHES, requests=REQUESTS // BATCHES, fifo=True
        )
        low, high = interval_99(means[Priority.HIGH])
        exact = mean_wait(rate, SERVICE_S, slots)
        off, doubt = (low + high) / 2 / exact - 1, (high - low) / 2 / exact
        inside = "inside" if low < exact < high else "OUTSIDE"
        print(f"M/M/{slots} at {LOAD:.0%}: {off:+.2%} +- {doubt:.2%}, closed form {inside}")


if __name__ == "__main__":
    main()
