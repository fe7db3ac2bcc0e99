"""What sharing slots by a server adds to a request, and what its loss does.

    .venv/bin/python -m tests.benchmarks shared

A real Valkey, a real Envoy; the same gateway with and without it, turn by turn. No request waits
for the server, so its median must stay where it is: 0.8 ms more at most. At last the server is
killed in the middle of a load, and no request may fail.
"""

import asyncio
import tempfile
from pathlib import Path
from statistics import median

import uvloop

from controlplane.domain.gateway import Endpoint
from controlplane.domain.quantities import ReplicaName
from tests.adapters.redis.server import Valkey
from tests.benchmarks.bench_gateway import ONE_BY_ONE, engine, envoy, load
from tests.benchmarks.paced import Pace
from tests.emulation.stand import free_port
from tests.gateway.running import Running, a_model, a_plan

ROUNDS, PER_S, SECONDS = 9, 100.0, 6.0
AT_MOST_S = 0.8e-3
WIRED = "controlplane.cli.admission_worker"


async def main() -> None:
    folder, back = Path(tempfile.mkdtemp()), free_port()
    at = Endpoint(replica=ReplicaName("r0"), host="127.0.0.1", port=back, slots=1000)
    plan = a_plan(a_model(at))
    async with Valkey() as valkey, envoy(folder, engine(back), back):
        alone = Running(folder / "alone", concurrency=1)
        shared = Running(folder / "shared", concurrency=1, shared=valkey.url, worker=WIRED)
        try:
            for run in (alone, shared):
                await run.gateway.start(plan)
            await shared.until(lambda: shared.gateway.counts.shared_s[0] > 0)
            await compare(alone, shared)
            await lose(shared, valkey)
        finally:
            await alone.gateway.stop()
            await shared.gateway.stop()


async def compare(alone: Running, shared: Running) -> None:
    """Ask one by one: half a round each way, so that neither always comes first."""
    spent: dict[str, list[float]] = {"alone": [], "shared": []}
    for run in (alone, shared):
        await load(run.port, 8, 60.0, 500)  # warm
    for number in range(ROUNDS):
        ways = [("alone", alone), ("shared", shared)]
        for name, run in ways if number % 2 else ways[::-1]:
            spent[name] += await load(run.port, 1, 60.0, ONE_BY_ONE)
    without, beside = median(spent["alone"]), median(spent["shared"])
    asked, seconds = shared.gateway.counts.shared_s
    print(f"one by one: p50 {without * 1e3:.3f} ms alone, {beside * 1e3:.3f} ms with shared slots")
    print(f"  {(beside - without) * 1e3:+.3f} ms (at most {AT_MOST_S * 1e3:.1f} more)")
    print(f"  the server was asked {asked} times, {seconds / asked * 1e3:.2f} ms each")


async def lose(shared: Running, valkey: Valkey) -> None:
    """Kill the server in the middle of a load."""
    pace = Pace(shared.port, "/models/chat/v1/completions")
    asking = asyncio.create_task(pace.spent(PER_S, SECONDS))
    await asyncio.sleep(SECONDS / 3)
    await valkey.kill()
    answered = len(await asking)
    await shared.until(lambda: shared.gateway.counts.degraded)
    pace.close()
    print(f"killed in the middle of {answered + pace.failed} requests: {pace.failed} failed (none)")


if __name__ == "__main__":
    uvloop.run(main())
