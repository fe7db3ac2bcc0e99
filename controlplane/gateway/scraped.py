"""The counts of a gateway that runs by itself, on a port of their own: nobody else serves them.

A gateway of `serve` needs none: its counts are among the daemon's. In a pod the probes are answered
here, too: `/healthz` while this process answers at all, `/readyz` while requests would be served.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

SERVICE_UNAVAILABLE = 503


async def _nothing_missing() -> str:
    return ""


@asynccontextmanager
async def scraped(
    registry: CollectorRegistry,
    host: str,
    port: int,
    missing: Callable[[], Awaitable[str]] = _nothing_missing,
) -> AsyncIterator[int]:
    """Answer metrics and probes; gives the port. `missing` says what keeps requests from passing.

    Raises OSError where it cannot be listened on.
    """

    async def metrics(_: web.Request) -> web.Response:
        body = generate_latest(registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def alive(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def ready(_: web.Request) -> web.Response:
        lacks = await missing()
        return web.Response(text=f"{lacks or 'ok'}\n", status=SERVICE_UNAVAILABLE if lacks else 200)

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/healthz", alive)
    app.router.add_get("/readyz", ready)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
