"""The sockets: peers come, are served, and are let go in good order."""

import asyncio
import socket
from collections.abc import Mapping
from typing import cast

from controlplane.gateway.http2.connection import Connection
from controlplane.gateway.http2.stream import Served

UNIX = "unix:"
BACKLOG = 1024
MOST_UNREAD = 1 << 20  # bytes of answers a peer may leave unread before we read no more from it
# A host that is lost says nothing: its kernel is asked, and what it held is free a minute later.
SILENT_S, AGAIN_S, TIMES = 30, 10, 3


class Server:
    """Serves gRPC methods on one address."""

    def __init__(self, methods: Mapping[str, Served]) -> None:
        """Serve these, by path."""
        self._methods = methods
        self._peers: set[_Peer] = set()
        self._listening: asyncio.Server | None = None
        self._empty = asyncio.Event()

    async def start(self, listen: str) -> None:
        """Listen on HOST:PORT, shared with others that do, or on unix:PATH."""
        loop = asyncio.get_running_loop()

        def peer() -> _Peer:
            return _Peer(self._methods, self._peers, self._empty)

        if listen.startswith(UNIX):
            path = listen.removeprefix(UNIX)
            self._listening = await loop.create_unix_server(peer, path, backlog=BACKLOG)
        else:
            host, _, port = listen.rpartition(":")
            self._listening = await loop.create_server(
                peer, host.strip("[]"), int(port), backlog=BACKLOG, reuse_port=True
            )

    async def stop(self, grace_s: float) -> None:
        """Take nothing new; let calls under way end, for so long."""
        if self._listening is not None:
            self._listening.close()
        for peer in list(self._peers):
            peer.connection.drain()
        if self._peers:
            self._empty.clear()
            try:
                async with asyncio.timeout(grace_s):
                    await self._empty.wait()
            except TimeoutError:
                for peer in list(self._peers):
                    peer.abort()


class _Peer(asyncio.Protocol):
    """One connection's socket."""

    def __init__(
        self, methods: Mapping[str, Served], peers: "set[_Peer]", empty: asyncio.Event
    ) -> None:
        self.connection = Connection(methods, self)
        self._peers, self._empty = peers, empty
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by class
        self._transport.set_write_buffer_limits(MOST_UNREAD)
        _keep_alive(transport.get_extra_info("socket"))
        self._peers.add(self)
        self.connection.greet()

    def data_received(self, data: bytes) -> None:
        self.connection.receive(data)

    def connection_lost(self, _cause: Exception | None) -> None:
        self._transport = None
        self.connection.lost()
        self._peers.discard(self)
        if not self._peers:
            self._empty.set()

    def pause_writing(self) -> None:
        """Whoever does not read our answers is not read either."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


def _keep_alive(sock: socket.socket) -> None:
    if sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENT_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, AGAIN_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, TIMES)
