"""What the plain forecasts are worth on two public series, five minutes ahead.

    CONTROLPLANE_TRACES=FOLDER python -m tests.benchmarks forecast

The folder holds rate_azure2024_conv_1min_7d.csv (Azure LLM trace 2024, CC-BY-4.0) and
rate_nasa95_1min_62d.csv.gz (NASA-HTTP 1995). Errors count over the last 2 of 7 and 17 of 62 days;
published figures (mean absolute error): 174 / 152 / 705 and 14.3 / 12.0 / 17.5.
"""

import csv
import gzip
import os
from pathlib import Path
from time import perf_counter

from controlplane.forecasting.backtest import Trial, backtest
from controlplane.forecasting.experts import BASELINES, DAY

SERIES = (
    ("azure2024", "rate_azure2024_conv_1min_7d.csv", 5 * DAY),
    ("nasa95", "rate_nasa95_1min_62d.csv.gz", 45 * DAY),
)


def counts_of(path: Path) -> list[float]:
    """Read a column of counts."""
    read = gzip.decompress if path.suffix == ".gz" else bytes
    lines = read(path.read_bytes()).decode().splitlines()
    return [float(row["count"]) for row in csv.DictReader(lines)]


def main() -> None:
    """Print one line per series and expert."""
    folder = os.environ.get("CONTROLPLANE_TRACES")
    if not folder:
        print("skipped: CONTROLPLANE_TRACES names no folder")
        return
    print(f"{'series':<10} {'expert':<15} {'MAE':>8} {'pinball':>8} {'covered':>8} {'us/min':>7}")
    for name, file, begin in SERIES:
        path = Path(folder) / file
        if not path.exists():
            print(f"{name:<10} skipped: {path} is not there")
            continue
        counts = counts_of(path)
        for expert in BASELINES:
            began = perf_counter()
            score = backtest(expert, counts, Trial(begin=begin))
            each_us = (perf_counter() - began) / len(counts) * 1e6
            print(
                f"{name:<10} {score.expert:<15} {score.mae:>8.2f} {score.pinball:>8.2f} "
                f"{score.coverage:>8.1%} {each_us:>7.1f}"
            )


if __name__ == "__main__":
    main()
