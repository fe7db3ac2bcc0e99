"""A cycle's reads for a hundred models of four replicas from a real Prometheus.

    .venv/bin/python -m tests.benchmarks prometheus

One exporter page speaks for all replicas, with eight scrapes in a window, as by default. What is
timed is every query of a round, its answer read, joined with the replicas that live and folded into
loads.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from controlplane.adapters.prometheus.client import Prometheus
from controlplane.adapters.prometheus.signals import PrometheusSignals
from controlplane.clock import Clock
from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import ModelName
from tests.adapters.prometheus.server import page, prometheus, ready
from tests.builders import a_catalogue, a_model, a_replica

MODELS, REPLICAS, ROUNDS = 100, 4, 20
LIMIT_S = 0.3
NAMES = [ModelName(f"model-{n:03}") for n in range(MODELS)]
BOUNDS = ("0.3", "0.5", "0.8", "1.0", "1.5", "2.0", "2.5", "5.0", "10.0", "20.0", "60.0", "+Inf")
HISTOGRAMS = ("e2e_request_latency", "request_queue_time", "request_inference_time")


def metrics(count: int) -> str:
    lines = []
    for name in NAMES:
        for replica in range(REPLICAS):
            of = f'pod="{name}-{replica}",namespace="inference",controlplane_dev_model="{name}"'
            lines += [
                f"vllm:num_requests_waiting{{{of}}} {count % 7}",
                f"vllm:num_requests_running{{{of}}} 3",
                f"vllm:kv_cache_usage_perc{{{of}}} 0.4",
                f"DCGM_FI_DEV_GPU_UTIL{{{of}}} 60",
            ]
            for histogram in HISTOGRAMS:
                base = f"vllm:{histogram}_seconds"
                for at, bound in enumerate(BOUNDS, 1):
                    lines.append(f'{base}_bucket{{{of},le="{bound}"}} {count * at}')
                lines += [
                    f"{base}_count{{{of}}} {count * len(BOUNDS)}",
                    f"{base}_sum{{{of}}} {count * 9}",
                ]
    return "\n".join([*lines, ""])


async def measure(folder: Path) -> bool:
    seen = 0

    def text() -> str:
        nonlocal seen
        seen += 1
        return metrics(seen)

    replicas = tuple(
        a_replica(f"{name}-{n}", model=name) for name in NAMES for n in range(REPLICAS)
    )
    fleet = a_catalogue({name: a_model() for name in NAMES})
    with prometheus(folder, interval="5s") as server:
        await ready(server)
        async with page(text) as port, Prometheus(server.source(window_s=40)) as client:
            server.scrape((port, {}))
            clock = Clock()
            view = FleetView(at=clock.now(), nodes=(), replicas=replicas)
            signals = PrometheusSignals(client, lambda: fleet, lambda: view, clock)
            await signals.update()
            while signals.samples(NAMES[-1])["arrivals"].x is None:
                await asyncio.sleep(0.5)
                await signals.update()
            took = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                await signals.update()
                await signals.loads()
                took.append(time.perf_counter() - began)
                await asyncio.sleep(0.2)
    took.sort()
    half = took[len(took) // 2]
    print(f"  {MODELS} models, {MODELS * REPLICAS} replicas: median {half * 1e3:.0f} ms, "
          f"least {took[0] * 1e3:.0f} ms, most {took[-1] * 1e3:.0f} ms")  # fmt: skip
    return half <= LIMIT_S


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        if not uvloop.run(measure(Path(folder))):
            sys.exit(f"the median is above {LIMIT_S * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
