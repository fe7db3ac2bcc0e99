"""Emulated engines for tests: inside the process on a loopback port, or processes of their own."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, web

from controlplane.emulation.app import make_app
from controlplane.emulation.engine import Engine
from controlplane.emulation.faults import Faults
from controlplane.emulation.process import build
from controlplane.emulation.spec import EngineSpec

ROOT = Path(__file__).parents[2]
MODEL = "chat"


@dataclass(slots=True)
class Stand:
    """An emulated engine that answers on loopback."""

    engine: Engine
    port: int
    session: ClientSession

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def get(self, path: str) -> tuple[int, str]:
        async with self.session.get(f"{self.url}{path}") as answer:
            return answer.status, await answer.text()

    async def complete(self, **more: Any) -> int:
        """Ask for a completion; give the status."""
        body = {"prompt": "hello", "max_tokens": 4, **more}
        async with self.session.post(f"{self.url}/v1/completions", json=body) as answer:
            await answer.read()
            return answer.status

    def begin(self, count: int = 1) -> list[asyncio.Task[int]]:
        """Send so many requests and do not wait for them."""
        return [asyncio.create_task(self.complete()) for _ in range(count)]

    async def until(self, running: int, waiting: int = 0) -> None:
        """Wait until the engine holds so many requests."""
        for _ in range(5000):
            if (self.engine.running, self.engine.waiting) == (running, waiting):
                return
            await asyncio.sleep(0.002)
        raise AssertionError(f"it held {self.engine.running} and {self.engine.waiting}")


@asynccontextmanager
async def emulated(
    engine: str = "vllm", *, loaded: bool = True, faults: Faults | None = None, **like: Any
) -> AsyncIterator[Stand]:
    """Serve one inside this process; warm and quick unless the test says otherwise."""
    spec = EngineSpec(
        **{"model": MODEL, "engine": engine, "service_s": 0.01, "cold_requests": 0, **like}
    )
    played, face = build(spec, faults)
    played.loaded = loaded
    app = make_app(played, face)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with ClientSession(timeout=ClientTimeout(total=20)) as session:
        try:
            yield Stand(played, runner.addresses[0][1], session)
        finally:
            await runner.cleanup()


@dataclass(slots=True)
class Process:
    """An emulated engine as a process of its own."""

    process: asyncio.subprocess.Process
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def free_port() -> int:
    """Give a port nobody listens on right now."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port


@asynccontextmanager
async def engine_process(*arguments: str, wait: bool = True) -> AsyncIterator[Process]:
    """Run `controlplane emulate` on a free port, until the block ends; `wait` until it is open."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controlplane", "emulate", "--port", str(port), "--model", MODEL,
        *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        if wait:
            async with asyncio.timeout(30):
                await process.stdout.readline()
        yield Process(process, port)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
