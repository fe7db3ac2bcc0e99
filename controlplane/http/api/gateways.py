"""Route: where gateways in processes of their own join, over a WebSocket.

It is a GET, which no browser asks leave for: so whoever names an Origin is refused, and on loopback
too only an operator or a gateway's own token may join.
"""

import asyncio

from aiohttp import WSMsgType, web

from controlplane.http.access import Role
from controlplane.http.api.route import Call, Route
from controlplane.http.problems import ProblemError
from controlplane.ports import UnavailableError
from controlplane.ports.gateways import LONGEST, SILENT_S

SEND_S = 5.0  # who does not read for so long is gone


class SocketLine:
    """Implements `Line` over a WebSocket."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        """Speak over this one, which is open."""
        self._socket = socket

    async def hear(self) -> bytes | None:
        """Give the next message; None when it has gone."""
        said = await self._socket.receive()
        return said.data if said.type is WSMsgType.BINARY else None

    async def say(self, message: bytes) -> None:
        """Send a message."""
        try:
            async with asyncio.timeout(SEND_S):
                await self._socket.send_bytes(message)
        except (OSError, TimeoutError, RuntimeError) as cause:  # RuntimeError: it is closed
            raise UnavailableError(f"gateway: {str(cause) or type(cause).__name__}") from cause

    async def close(self) -> None:
        """End it from here."""
        await self._socket.close(code=1001, message=b"the daemon ends", drain=False)


async def _join(call: Call) -> web.StreamResponse:
    gateways, request = call.state.door.gateways, call.request
    if "Origin" in request.headers:
        raise ProblemError(403, "Origin: a gateway is no page, and names none")
    if call.caller.role not in (Role.GATEWAY, Role.OPERATOR, Role.ADMIN):
        raise ProblemError(403, f"role: {str(call.caller.role)!r} may not join; gateway is needed")
    if gateways is None:
        raise ProblemError(
            409,
            "gateways: none can join here: this daemon runs one of its own (--gateway), or its"
            " engines are simulated",
        )
    socket = web.WebSocketResponse(heartbeat=SILENT_S, max_msg_size=LONGEST, compress=False)
    if not socket.can_prepare(request):
        raise ProblemError(
            426, "Upgrade: a gateway speaks WebSocket", headers={"Upgrade": "websocket"}
        )
    await socket.prepare(request)
    await gateways.attend(SocketLine(socket))
    await socket.close()
    return socket


ROUTES = (
    Route(
        method="GET",
        path="/gateways/join",
        summary="A WebSocket for gateways: what to serve comes, what they count goes.",
        run=_join,
        answer=None,
        tag="daemon",
        role=Role.GATEWAY,
        produces="application/octet-stream",
        faults=(409, 426),
    ),
)
