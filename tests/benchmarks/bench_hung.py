"""One model hangs: what do callers of another one notice?

    .venv/bin/python -m tests.benchmarks hung

One gateway on a real Envoy, two models. The engine of one never answers: its slots are taken, its
queue is filled to the brim, and more callers come and are refused. Calm and hung turn by turn, so
that other work on the machine hits both alike. The limit is 1.1 times the calm P99. On a busy
machine `taskset -c 1 chrt -r 5` before it.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

import uvloop

from controlplane.domain.gateway import Endpoint
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ReplicaName
from tests.benchmarks.bench_gateway import engine, envoy
from tests.benchmarks.paced import Pace, p99, spread
from tests.emulation.stand import free_port
from tests.gateway.engine import Engine
from tests.gateway.running import OPEN, a_model, a_plan, ask, call, endpoint, running

ROUNDS, SECONDS, PER_S = 12, 6.0, 150.0
SLOTS, QUEUED, MORE_PER_S = 8, 500, 20.0
CHAT, HUNG = "/models/chat/v1/completions", "/models/hung/v1/completions"
AT_MOST = 1.1
SELF = "tests.benchmarks.bench_hung"


async def main() -> None:
    back = free_port()
    at = Endpoint(replica=ReplicaName("r0"), host="127.0.0.1", port=back, slots=1000)
    folder = Path(tempfile.mkdtemp())
    calm, hanging = list[float](), list[float]()
    async with Engine() as stuck, envoy(folder, engine(back), back):
        bounds = {Priority.HIGH: QUEUED}
        hung = a_model(endpoint(stuck, SLOTS), name="hung", queue_bounds=bounds)
        async with running(folder / "gateway", a_plan(a_model(at), hung), concurrency=1) as run:
            pace = Pace(run.port, CHAT)
            await pace.spent(PER_S, 2.0)  # warm
            for _ in range(ROUNDS):
                calm.append(p99(await pace.spent(PER_S, SECONDS)))
                async with callers(run.port):
                    hanging.append(p99(await pace.spent(PER_S, SECONDS)))
                await run.quiet()
            refused = sum(run.refused("hung").values())
            pace.close()
    usual, beside = median(calm), median(hanging)
    print(f"one model hangs: {SLOTS} requests never end, {QUEUED} wait, {refused} were refused")
    print(f"another's P99 {usual * 1e3:.2f} ms when calm, {beside * 1e3:.2f} ms beside it")
    print(f"  ratio {beside / usual:.2f} (at most {AT_MOST}); {pace.failed} failed (none)")
    print(f"  medians of {ROUNDS} rounds; calm {spread(calm)}, beside it {spread(hanging)} ms")


@asynccontextmanager
async def callers(port: int) -> AsyncIterator[None]:
    """Have those who want the model that hangs, in a process of their own."""
    command = (sys.executable, "-m", SELF, str(port))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert (await process.stdout.readline()).strip() == b"held"
        yield
    finally:
        process.kill()
        await process.wait()


async def call_for_ever(port: int) -> None:
    """Take its slots, fill its queue, and have more come, who are refused."""
    for _ in range(SLOTS + QUEUED):
        await call(port, HUNG, how="hang")
    while (await ask(port, HUNG, x_deadline_s="0.1")).status != 429:  # until the queue is full
        OPEN.pop()
    print("held", flush=True)
    while True:
        await ask(port, HUNG)
        OPEN.pop()
        await asyncio.sleep(1 / MORE_PER_S)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        asyncio.run(call_for_ever(int(sys.argv[1])))
    else:
        uvloop.run(main())
