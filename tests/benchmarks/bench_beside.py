"""A daemon that decides on a thousand models: what do callers of its gateway notice?

    .venv/bin/python -m tests.benchmarks beside

The daemon is a process of its own: it runs the gateway, makes its plan of a thousand models every
second, and, turn by turn for some cycles each, decides on their scaling every five seconds or does
not. Its admission works in processes beside it, a real Envoy before them. High's P99 may rise by
5 ms while it decides. Time is what a caller waits at the gateway: the engine answers at once.
On a busy machine `chrt -r 5` before it; on one processor alone it would measure that one's queue.
"""

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import msgspec
import uvloop

from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.store import Store
from controlplane.clock import Clock
from controlplane.decide.placement.relocate import PlacementMemory
from controlplane.domain.actions import Action
from controlplane.domain.decisions import DONE, Outcome
from controlplane.domain.fleet import FleetView
from controlplane.domain.gateway import Endpoint, GatewayPlan
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import ModelName, ReplicaName
from controlplane.gateway.planning import plan_of
from controlplane.loops.acting import Gate
from controlplane.loops.fleet import Fleet
from controlplane.loops.reconcile import Shell, cycle
from controlplane.loops.scaling import scaling_loop
from controlplane.loops.showing import Showing
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.history import History
from controlplane.telemetry.metrics import Metrics
from tests.benchmarks.bench_cycles import MODELS, a_large_fleet
from tests.benchmarks.bench_gateway import engine, envoy
from tests.benchmarks.paced import Pace, p99, spread
from tests.builders import a_class_load, a_load
from tests.emulation.stand import free_port
from tests.gateway.running import Running, a_model, a_plan

ROUNDS, SECONDS, PER_S = 10, 10.0, 150.0  # two cycles a turn
CYCLE_S, PLAN_S = 5.0, 1.0
AT_MOST_S = 5e-3
SELF = "tests.benchmarks.bench_beside"


class Still:
    """A fleet of a thousand models that stays as it is, under a load that stays as it is."""

    def __init__(self, clock: Clock) -> None:
        self.catalogue, seen, self._memory = a_large_fleet()
        self._view, self._clock = seen.view, clock

    async def observe(self) -> FleetView:
        return msgspec.structs.replace(self._view, at=self._clock.now())

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        """Give every model's load of now; one in ten is under pressure."""
        now = self._clock.now()
        calm = a_class_load(900.0, wait=0.01, at=now)
        hot = a_class_load(1_300.0, 40.0, turned_away=9.0, at=now)
        names = enumerate(self.catalogue.models)
        return {name: a_load(hot if n % 10 == 0 else calm, model=name, at=now) for n, name in names}

    async def apply(self, _action: Action) -> Outcome:
        return DONE


class Deciding:
    """The scaling loop on a store of its own, every five seconds while that is wished."""

    def __init__(self, store: Store, clock: Clock, still: Still) -> None:
        self._shell = Shell(
            clock=clock,
            journal=store.journal,
            memory=store.memory,
            heartbeats=Heartbeats(),
            metrics=Metrics(),
            catalogue_version=lambda: 1,
        )
        fleet = Fleet(
            clock=clock,
            cluster=still,
            signals=still,
            overrides=store.overrides,
            catalogue=still.catalogue,
        )
        gate, showing = Gate(acting=True), Showing(fleet, History(), self._shell.metrics)
        self._loop = scaling_loop(fleet, gate, PlacementMemory, lambda: None, showing)
        self.wished = asyncio.Event()
        self.took: list[float] = []

    async def run(self) -> None:
        memory = self._loop.fresh
        while True:
            await self.wished.wait()
            began = time.perf_counter()
            memory, _ = await cycle(self._loop, self._shell, memory)
            self.took.append(time.perf_counter() - began)
            await asyncio.sleep(max(0.0, CYCLE_S - self.took[-1]))


async def daemon(folder: Path, port: int, back: int) -> None:
    """Run gateway and loop; SIGUSR1 and SIGUSR2 begin and end deciding."""
    clock, loop = Clock(), asyncio.get_running_loop()
    still = Still(clock)
    at = Endpoint(replica=ReplicaName("r0"), host="127.0.0.1", port=back, slots=1000)
    served = a_plan(a_model(at))

    async def plan() -> GatewayPlan:
        rest = plan_of(await still.observe(), still.catalogue, ()).models
        return msgspec.structs.replace(served, models=(*served.models, *rest))

    run = Running(folder / "gateway", port=port, concurrency=1)
    async with open_store(str(folder / "store"), "world-1", create=True) as store:
        deciding, stop = Deciding(store, clock, still), asyncio.Event()
        loop.add_signal_handler(signal.SIGUSR1, deciding.wished.set)
        loop.add_signal_handler(signal.SIGUSR2, deciding.wished.clear)
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        await run.gateway.start(await plan())
        print("up", flush=True)

        async def follow() -> None:
            while True:
                await run.gateway.update(await plan())
                await asyncio.sleep(PLAN_S)

        tasks = [asyncio.create_task(work) for work in (follow(), deciding.run())]
        await stop.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await run.gateway.stop()
    print(f"{len(deciding.took)} cycles, the median took {median(deciding.took):.2f} s", flush=True)


async def main() -> None:
    folder, back, port = Path(tempfile.mkdtemp()), free_port(), free_port()
    command = (sys.executable, "-m", SELF, str(folder), str(port), str(back))
    async with envoy(folder, engine(back), back):
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        try:
            assert (await process.stdout.readline()).strip() == b"up"
            await compare(port, process.pid)
        finally:
            process.terminate()
            print(" ", (await process.stdout.read()).decode().strip())
            await process.wait()


async def compare(port: int, pid: int) -> None:
    pace = Pace(port, "/models/chat/v1/completions")
    await pace.spent(PER_S, 3.0)  # warm
    quiet, deciding = [], []
    for _ in range(ROUNDS):
        quiet.append(p99(await pace.spent(PER_S, SECONDS)))
        os.kill(pid, signal.SIGUSR1)
        deciding.append(p99(await pace.spent(PER_S, SECONDS)))
        os.kill(pid, signal.SIGUSR2)
    pace.close()
    before, beside = median(quiet) * 1e3, median(deciding) * 1e3
    print(f"{MODELS:,} models: high's P99 {before:.1f} ms while nothing is decided,")
    print(f"  {beside:.1f} ms while scaling is, every {CYCLE_S:.0f} s")
    print(f"  {beside - before:+.1f} ms (at most {AT_MOST_S * 1e3:.0f} more); {pace.failed} failed")
    print(f"  medians of {ROUNDS} rounds; quiet {spread(quiet)}, deciding {spread(deciding)} ms")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[0].endswith("bench_beside.py"):
        uvloop.run(daemon(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
    else:
        uvloop.run(main())
