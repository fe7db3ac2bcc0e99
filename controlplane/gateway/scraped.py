"""The counts of a gateway that runs by itself, on a port of their own: nobody else serves them.

A gateway of `serve` needs none: its counts are among the daemon's.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from controlplane.gateway.exposed import GatewayMetrics


@asynccontextmanager
async def scraped(counts: GatewayMetrics, host: str, port: int) -> AsyncIterator[int]:
    """Answer `/metrics`; gives the port. Raises OSError where it cannot be listened on."""
    registry = CollectorRegistry()
    registry.register(counts)

    async def metrics(_: web.Request) -> web.Response:
        body = generate_latest(registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
