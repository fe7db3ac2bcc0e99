"""100 engines asked once a second for health and metrics: what that costs the daemon.

The engines are one process that answers on 100 loopback addresses with vLLM's page at its real
length (histograms by the dozen, a few hundred lines); only the asking process is measured.
"""

import asyncio
import subprocess
import sys
import time

import msgspec
import uvloop

from controlplane.adapters.engines.fleet import EngineFleet
from controlplane.adapters.engines.names import NAMES
from controlplane.adapters.engines.page import read
from controlplane.clock import Clock
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.serving import Serving
from controlplane.emulation.exposition import text
from controlplane.emulation.faults import Faults
from controlplane.emulation.process import build
from controlplane.emulation.spec import EngineSpec
from controlplane.ports import EngineAt
from tests.builders import A100, CHAT, a_catalogue, a_model, a_policy
from tests.emulation.stand import emulated

ENGINES = 100
SECONDS = 10.0
TURNS = 10
PORT = 18_233
SERVER = """
import asyncio
from aiohttp import web
from tests.benchmarks.bench_engines import PORT, page

async def main() -> None:
    body = await page()
    async def metrics(_): return web.Response(body=body, content_type="text/plain")
    async def health(_): return web.Response()
    app = web.Application()
    app.add_routes([web.get("/metrics", metrics), web.get("/health", health)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "0.0.0.0", PORT).start()
    print("up", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def page() -> bytes:
    """vLLM's page, with the histograms that it has and nobody asks for."""
    engine, face = build(EngineSpec(model="chat"))
    written = text(face.families(engine))
    more = [
        line.replace("e2e_request_latency_seconds", f"request_params_{number}")
        for number in range(12)
        for line in written.splitlines()
        if "e2e_request_latency_seconds" in line
    ]
    return (written + "\n".join(more) + "\n").encode()


def engine(number: int) -> EngineAt:
    return EngineAt(
        replica=ReplicaName(f"chat-{number}"),
        model=CHAT,
        node_class=A100,
        host=f"127.0.1.{number + 1}",
        serving=Serving(port=PORT),
        serves=True,
        started="1",
    )


async def woken() -> None:
    """From a queue inside an engine to the loops being woken, at any moment between two looks."""
    took = []
    policy = a_policy(drain_limit_s=0.3)
    async with emulated(slots=1, faults=Faults(hang=True)) as stand:
        at = msgspec.structs.replace(engine(0), host="127.0.0.1", serving=Serving(port=stand.port))
        async with EngineFleet(a_catalogue({CHAT: a_model(policy=policy)}), Clock()) as fleet:
            fleet.follow([at])
            for turn in range(TURNS):
                await asyncio.sleep(2.0 + turn / TURNS)
                wake = asyncio.Event()
                fleet.wake = wake.set
                sent = stand.begin(60)
                await stand.until(running=1, waiting=59)
                began = time.perf_counter()
                await wake.wait()
                took.append(time.perf_counter() - began)
                for task in sent:
                    task.cancel()
                await stand.until(running=0)
    worst, middle = max(took), sorted(took)[len(took) // 2]
    print(
        f"queue in an engine -> loops woken: median {middle:.2f} s, worst of {TURNS} {worst:.2f} s"
    )


async def asked() -> None:
    async with EngineFleet(a_catalogue({CHAT: a_model()}), Clock()) as fleet:
        fleet.follow([engine(number) for number in range(ENGINES)])
        await asyncio.sleep(3.0)
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.sleep(SECONDS)
        took, used = time.perf_counter() - began, time.process_time() - cpu
        load = (await fleet.loads())[CHAT]
        print(
            f"{ENGINES} engines, health and metrics every second: {100 * used / took:.1f} % of a "
            f"core, loads of all included; {len(load.notes)} of them did not answer in time"
        )


def main() -> None:
    body = asyncio.run(page())
    began, turns = time.process_time(), 500
    for _ in range(turns):
        read(body, NAMES["vllm"], "chat")
    each = 1e6 * (time.process_time() - began) / turns
    lines = len(body.splitlines())
    print(f"a page of {lines} lines, {len(body)} bytes: read in {each:.0f} µs")
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        server.stdout.readline()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as `serve` does
            runner.run(asked())
            runner.run(woken())
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
