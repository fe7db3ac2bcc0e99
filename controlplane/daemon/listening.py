"""The daemon's pages and API on their port."""

import contextlib
import os
from collections.abc import AsyncIterator
from ipaddress import ip_address
from socket import gethostname
from urllib.parse import urlsplit

from aiohttp import web

from controlplane.daemon.surroundings import StartError
from controlplane.http.app import make_app
from controlplane.http.state import State
from controlplane.settings import ServeOptions, announced, folder_beside


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
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        with announced(folder_beside(options.data, os.environ), address):
            yield address
    finally:
        await runner.cleanup()


def for_people(address: str, hosts: str) -> str:
    """Give the address by which people reach the pages.

    Bound everywhere is no address: then it is the first of the names they are reached by, else this
    machine's.
    """
    found = urlsplit(address)
    try:
        everywhere = ip_address(found.hostname or "").is_unspecified
    except ValueError:
        everywhere = False
    if not everywhere:
        return address
    names = [name.strip() for name in hosts.split(",") if name.strip()]
    return f"http://{names[0] if names else gethostname()}:{found.port}"
