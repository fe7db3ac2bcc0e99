"""The daemon goes and comes back, workers die, Envoy lives on."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import msgspec

from controlplane.domain.gateway import GatewayPlan
from controlplane.render.envoy import Site
from tests.gateway.engine import Engine
from tests.gateway.running import OPEN, Running, a_model, a_plan, ask, call, endpoint, running

DAEMON = """
import asyncio, sys
from pathlib import Path
import msgspec
from controlplane.domain.gateway import GatewayPlan
from controlplane.gateway.gateway import Gateway
from controlplane.gateway.site import GatewayOptions

async def main():
    options = GatewayOptions(folder=Path(sys.argv[1]), port=int(sys.argv[2]), concurrency=1)
    gateway = Gateway(options)
    await gateway.start(msgspec.json.decode(sys.argv[3], type=GatewayPlan))
    print("up", flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


async def a_daemon(folder: Path, port: int, plan: GatewayPlan) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", DAEMON, str(folder), str(port), msgspec.json.encode(plan).decode()),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"up\n"
    return process


async def refused_everywhere(port: int, site: Site) -> None:
    """Nothing passes unadmitted, a forged ticket neither."""
    ticket = {"x_admission_ticket": site.secret, "x_controlplane_cluster": "chat"}
    for more in ({}, ticket):
        reply = await ask(port, **more)
        assert (reply.status, reply.headers["x-controlplane-reason"]) == (503, "admission-away")


async def test_the_daemon_killed_and_restarted_running_requests_finish_and_hold_their_slots(
    tmp_path: Path,
) -> None:
    async with Engine() as engine:
        run, plan = Running(tmp_path), a_plan(a_model(endpoint(engine, 2)))
        daemon = await a_daemon(tmp_path, run.port, plan)
        try:
            streams = [await call(run.port, how="stream") for _ in range(2)]
            for stream in streams:
                await stream.first_byte()
            queued = await call(run.port)
            daemon.kill()
            await daemon.wait()
            assert (await queued.reply()).status == 503
            await refused_everywhere(run.port, run.gateway.site)

            await run.gateway.start(plan)  # it finds its Envoy, and the two that still run
            assert run.gateway.envoy is not None
            assert run.gateway.envoy.starts == 0
            waiting = await call(run.port)
            await run.until(lambda: run.counted("queued") == [1, 0, 0])
            engine.release.set()
            assert (await waiting.reply()).status == 200
            for stream in streams:
                assert (await stream.chunks()).endswith(b"data: [DONE]\n\n")
            assert engine.most == 2
            assert [(await ask(run.port)).status for _ in range(4)] == [200] * 4
            await run.quiet()
        finally:
            if daemon.returncode is None:
                daemon.kill()
                await daemon.wait()
            await run.gateway.stop()
            for made in OPEN:
                await made.over()
            OPEN.clear()


async def test_a_worker_that_dies_is_replaced_and_what_it_counted_is_kept(tmp_path: Path) -> None:
    async with Engine() as engine, running(tmp_path, a_plan(a_model(endpoint(engine, 1)))) as run:
        assert (await ask(run.port)).status == 200
        await run.until(lambda: run.counted("ended") == [1, 0, 0])
        stream = await call(run.port, how="stream")
        await stream.first_byte()
        (pid,) = run.gateway.pids
        os.kill(pid, signal.SIGKILL)
        await run.until(lambda: run.gateway.pids != [pid] and run.gateway.ready)
        waiting = await call(run.port)  # the stream goes on, and holds the only slot
        await run.until(lambda: run.counted("queued") == [1, 0, 0])
        engine.release.set()
        assert (await waiting.reply()).status == 200
        await run.until(lambda: run.counted("ended")[0] >= 2)
        assert engine.most == 1


async def test_when_it_ends_running_and_queued_requests_finish(tmp_path: Path) -> None:
    async with Engine() as engine, running(tmp_path, a_plan(a_model(endpoint(engine, 1)))) as run:
        served = await call(run.port, how="hold")
        await engine.arrived.wait()
        queued = await call(run.port, how="hold")
        await run.until(lambda: run.counted("queued") == [1, 0, 0])
        ending = asyncio.create_task(run.gateway.stop())
        await no_longer_listening(run.port)
        engine.release.set()
        assert (await served.reply()).status == 200
        assert (await queued.reply()).status == 200
        await ending


async def no_longer_listening(port: int) -> None:
    with contextlib.suppress(ConnectionRefusedError):
        while True:
            (await call(port, "/")).fin()
            await asyncio.sleep(0.02)
