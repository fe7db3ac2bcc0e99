"""Where the daemons are: every address behind each name, looked up again and again.

A headless Service names every daemon, ready or not; one that comes is joined within seconds, one
that has gone is let go.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import structlog

from controlplane.domain.faults import Fault, FaultsError
from controlplane.gateway.link import Link

LOOKS_S = 5.0

Opened = Callable[[str, Callable[[], Mapping[str, str]]], Link]  # address and headers in

log = structlog.stdlib.get_logger(__name__)


class Daemons:
    """Keeps a link to each."""

    def __init__(self, urls: Sequence[str], token: Path | None, opened: Opened) -> None:
        """Look for them at these URLs; raises FaultsError where one is none."""
        self._places = [place(url) for url in urls]
        self._token, self._opened = token, opened
        self._tasks: dict[str, asyncio.Task[NoReturn]] = {}
        self._links: dict[str, Link] = {}

    async def follow(self, found: Callable[[list[Link]], None]) -> NoReturn:
        """Find them for ever; `found` is told of every change."""
        try:
            while True:
                if await self._look():
                    found(list(self._links.values()))
                await asyncio.sleep(LOOKS_S)
        finally:
            for task in self._tasks.values():
                task.cancel()

    async def _look(self) -> bool:
        """Open and end links, and say whether there was one. Who cannot be looked up stays."""
        there: dict[str, str] = {}
        for host, port in self._places:
            try:
                for address in await self._addresses(host, port):
                    there[address] = f"{host}:{port}"
            except OSError as cause:
                log.warning("a daemon's name leads nowhere", name=host, cause=str(cause))
                return False
        gone = self._links.keys() - there.keys()
        for address in gone:
            self._tasks.pop(address).cancel()
            del self._links[address]
        new = there.keys() - self._links.keys()
        for address in sorted(new):
            self._links[address] = link = self._opened(address, self._headers(there[address]))
            self._tasks[address] = asyncio.create_task(link.run(), name=f"link {address}")
        return bool(new or gone)

    async def _addresses(self, host: str, port: int) -> list[str]:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        hosts = [str(at[4][0]) for at in found]
        return [f"http://{f'[{at}]' if ':' in at else at}:{port}" for at in hosts]

    def _headers(self, host: str) -> Callable[[], Mapping[str, str]]:
        """Give what each call says: the token as it is by then, for a Secret may be renewed."""

        def headers() -> Mapping[str, str]:
            if self._token is None:
                return {"Host": host}
            secret = self._token.read_text("utf-8", "replace").strip()
            return {"Host": host, "Authorization": f"Bearer {secret}"}

        return headers


def place(url: str) -> tuple[str, int]:
    """Give host and port of a daemon."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        host, port, parts = None, 0, urlsplit("")
    if parts.scheme != "http" or not host or parts.path not in ("", "/"):
        raise FaultsError([Fault("--daemon", None, "", url, "must be http://HOST:PORT")])
    return host, port
