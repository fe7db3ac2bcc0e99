"""The daemon's pages and API on their port."""

import contextlib
from collections.abc import AsyncIterator

from aiohttp import web

from controlplane.daemon.surroundings import StartError
from controlplane.http.app import make_app
from controlplane.http.state import State
from controlplane.settings import ServeOptions


@contextlib.asynccontextmanager
async def listening(options: ServeOptions, state: State) -> AsyncIterator[str]:
    """Serve pages and API; give their address."""
    runner = web.AppRunner(make_app(state), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, options.host, options.port)
        try:
            await site.start()
        except OSError as cause:
            where = f"{options.host}:{options.port}"
            raise StartError(f"port: {where} cannot be listened on: {cause.strerror}") from cause
        host, port = runner.addresses[0][:2]
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}"
    finally:
        await runner.cleanup()
