"""A real Prometheus that scrapes what a test tells it to, four times a second."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from aiohttp import ClientError, ClientSession, web

from controlplane.adapters.prometheus.client import Prometheus
from controlplane.domain.sources import PrometheusSource
from tests.emulation.stand import free_port

T = TypeVar("T")
CONFIG = """\
global: {scrape_interval: INTERVAL, scrape_timeout: INTERVAL}
scrape_configs:
  - job_name: engines
    file_sd_configs: [{files: [targets.json], refresh_interval: 1s}]
"""


@dataclass(slots=True)
class Server:
    """Where it answers, and what it scrapes."""

    address: str
    folder: Path

    def scrape(self, *targets: tuple[int, Mapping[str, str]]) -> None:
        """Scrape these loopback ports, with these labels, and no others."""
        groups = [{"targets": [f"127.0.0.1:{port}"], "labels": dict(of)} for port, of in targets]
        beside = self.folder / "targets.new"
        beside.write_text(json.dumps(groups))
        beside.rename(self.folder / "targets.json")  # it must never be seen half written

    def source(self, **more: object) -> PrometheusSource:
        given = {"address": self.address, "window_s": 4, "timeout_s": 5.0, **more}
        return PrometheusSource(**given)  # type: ignore[arg-type]  # a test's choice


@contextmanager
def prometheus(folder: Path, interval: str = "250ms") -> Iterator[Server]:
    """Run one; skips where the program is missing."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("prometheus is not installed: apt-get install prometheus")
    (folder / "prometheus.yml").write_text(CONFIG.replace("INTERVAL", interval))
    (folder / "targets.json").write_text("[]")
    address = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
         f"--web.listen-address={address}", "--log.level=error"],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield Server(f"http://{address}", folder)
    finally:
        process.kill()
        process.wait()


async def ready(server: Server) -> None:
    """Wait until it answers."""
    async with ClientSession() as session, asyncio.timeout(40):
        while True:
            try:
                async with session.get(f"{server.address}/-/ready") as answer:
                    if answer.status == 200:
                        return
            except ClientError:
                pass
            await asyncio.sleep(0.05)


async def until(look: Callable[[], Awaitable[T]], good: Callable[[T], bool]) -> T:
    """Look again and again until what is seen is good; the last look says what was seen instead."""
    seen = await look()
    try:
        async with asyncio.timeout(25):
            while not good(seen):
                await asyncio.sleep(0.1)
                seen = await look()
    except TimeoutError:
        raise AssertionError(f"it stayed {seen}") from None
    return seen


@asynccontextmanager
async def page(text: Callable[[], str]) -> AsyncIterator[int]:
    """Serve a page of metrics; gives its port."""

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(text=text())

    async with serving({"/metrics": metrics}) as address:
        yield int(address.rpartition(":")[2])


@asynccontextmanager
async def serving(
    routes: Mapping[str, Callable[[web.Request], Awaitable[web.StreamResponse]]],
) -> AsyncIterator[str]:
    """Serve these paths, whatever the method; gives the address."""
    app = web.Application()
    for path, handler in routes.items():
        app.router.add_route("*", path, handler)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def asking(server: Server, **more: object) -> AsyncIterator[Prometheus]:
    async with Prometheus(server.source(**more)) as client:
        yield client
