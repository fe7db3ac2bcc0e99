"""An emulated engine as a process: it loads, opens its port, serves, and stops as it is told to."""

import asyncio
import signal
from collections.abc import Callable

from aiohttp import web

from controlplane.emulation.app import die_as_told, make_app
from controlplane.emulation.book import Book
from controlplane.emulation.engine import Engine
from controlplane.emulation.faces import face
from controlplane.emulation.faces.face import Face
from controlplane.emulation.faults import FaultBox, Faults
from controlplane.emulation.spec import EngineSpec, Listening

LONGEST_S = 3600.0  # a stop waits so long for what is being generated; Kubernetes is sooner
QUIET = 1e-3  # aiohttp takes 0 for "no limit"


def build(spec: EngineSpec, faults: Faults | None = None) -> tuple[Engine, Face]:
    """Make an engine and its face, for a process or for a server inside a test."""
    worn = face(spec.engine)
    return Engine(spec, Book(worn.buckets), FaultBox(faults)), worn


async def run(
    spec: EngineSpec, faults: Faults, where: Listening, listening: Callable[[int], None]
) -> None:
    """Run until SIGTERM or SIGINT; `listening` is told the port once it is open."""
    engine, worn = build(spec, faults)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    dying = asyncio.create_task(die_as_told(engine))
    loading = asyncio.create_task(_load(engine))
    runners: list[web.AppRunner] = []
    try:
        if not worn.opens_at_once and await _first(loading, stop):
            return
        runners = await _open(engine, worn, where, listening)
        await stop.wait()
    finally:
        loading.cancel()
        for runner in runners:
            await runner.cleanup()  # closes the port, then waits for what is being generated
        dying.cancel()


async def _load(engine: Engine) -> None:
    await asyncio.sleep(engine.spec.load_s)
    engine.loaded = True


async def _first(loading: asyncio.Task[None], stop: asyncio.Event) -> bool:
    """Wait for the model; say whether it was told to stop before."""
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((loading, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    return stop.is_set()


async def _open(
    engine: Engine, worn: Face, where: Listening, listening: Callable[[int], None]
) -> list[web.AppRunner]:
    apps = [(make_app(engine, worn), where.port)]
    if where.metrics_port is not None:
        apps.append((make_app(engine, worn, metrics_only=True), where.metrics_port))
    runners = []
    for app, port in apps:
        runner = web.AppRunner(
            app,
            access_log=None,
            handler_cancellation=True,  # a client that leaves frees its slot
            shutdown_timeout=QUIET if where.abort_on_term else LONGEST_S,
        )
        await runner.setup()
        runners.append(runner)
        await web.TCPSite(runner, where.host, port, ssl_context=where.tls).start()
    listening(runners[0].addresses[0][1])
    return runners
