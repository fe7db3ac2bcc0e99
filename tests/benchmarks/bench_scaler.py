"""The external scaler at a thousand models and a hundred calls a second, and as fast as it goes.

    .venv/bin/python -m tests.benchmarks scaler

The server is a process of its own; the times are the caller's, over a real connection, with
everything gRPC does on both sides. The board is put anew every five seconds, as the daemon does.
"""

import asyncio
import gc
import multiprocessing
import sys
import time
from multiprocessing.connection import Connection

import msgspec
import uvloop
from grpc import aio

from controlplane.adapters.keda.board import Board
from controlplane.adapters.keda.server import ScalerPort
from controlplane.clock import Clock
from controlplane.decide.scaling.inputs import ScalingSeen
from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import ModelName
from controlplane.loops.fleet import Fleet
from controlplane.loops.handover import Handover
from controlplane.loops.in_memory import MemoryOverrides
from controlplane.simulation.embedded import embedded
from tests.adapters.keda.asking import Keda
from tests.builders import a_catalogue, a_class_load, a_load, a_model, a_replica

MODELS = 1_000
PER_S, SECONDS = 100, 10
LIMIT_S = 0.005
NAMES = [ModelName(f"model-{n:04}") for n in range(MODELS)]


def serve(told: Connection) -> None:
    uvloop.run(_serve(told))


async def _serve(told: Connection) -> None:
    catalogue = a_catalogue({name: a_model() for name in NAMES})
    board, clock = Board(), Clock()
    cluster = embedded(catalogue, clock, 1)
    fleet = Fleet(
        clock=clock,
        cluster=cluster,
        signals=cluster,
        overrides=MemoryOverrides(),
        catalogue=catalogue,
    )
    handover = Handover(fleet, board.put)
    port = ScalerPort(board, lambda: catalogue, clock, "127.0.0.1:0")
    running = asyncio.create_task(port.run())
    await port.answers.wait()
    replicas = tuple(a_replica(f"{name}-{n}", model=name) for name in NAMES for n in range(4))
    view = FleetView(at=clock.now(), nodes=(), replicas=replicas)
    loads = {name: a_load(a_class_load(queue=n % 9), model=name) for n, name in enumerate(NAMES)}
    gc.collect()
    gc.freeze()  # as the daemon does
    while not running.done():
        fresh = {n: msgspec.structs.replace(of, at=clock.now()) for n, of in loads.items()}
        await handover.update(ScalingSeen(at=clock.now(), view=view, loads=fresh))
        if not told.closed:
            told.send(port.port)
            told.close()
        await asyncio.sleep(5)


async def call(asking: Keda, number: int) -> float:
    began = time.perf_counter()
    await asking.value(model=NAMES[number % MODELS], metric="weighted_depth")
    return time.perf_counter() - began


async def measure(port: int) -> bool:
    async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        asking = Keda(channel)
        await call(asking, 0)
        began, calls = time.perf_counter(), []
        for number in range(PER_S * SECONDS):
            await asyncio.sleep(max(0.0, began + number / PER_S - time.perf_counter()))
            calls.append(asyncio.create_task(call(asking, number)))
        took = sorted(await asyncio.gather(*calls))
        p50, p99 = took[len(took) // 2], took[int(len(took) * 0.99)]
        print(f"  {PER_S} calls/s, {MODELS} models: p50 {p50 * 1e3:.2f} ms, p99 {p99 * 1e3:.2f} ms")
        began = time.perf_counter()
        for number in range(2_000):
            await call(asking, number)
        print(f"  one after the other: {2_000 / (time.perf_counter() - began):.0f} calls/s")
    return p99 <= LIMIT_S


def main() -> None:
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    good = uvloop.run(measure(ours.recv()))
    server.terminate()
    server.join()
    if not good:
        sys.exit(f"p99 is above {LIMIT_S * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
