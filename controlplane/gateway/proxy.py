"""The gateway without Envoy, for small installations: a reverse proxy with the same admission.

Bodies are passed on as they come, both ways, but for those that must be known first. Whoever
leaves, at whatever stage, frees the slot: the server cancels the request's task.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import aiohttp
from aiohttp import web
from yarl import URL

from controlplane.clock import stopwatch
from controlplane.decide.admission.capacity import LENT
from controlplane.decide.breakers.answers import Answer, meaning
from controlplane.domain.entrances import GatewayPolicy
from controlplane.domain.gateway import Endpoint
from controlplane.gateway.bodies import passed_on, read_ahead, waited
from controlplane.gateway.desk import Desk
from controlplane.gateway.door import Door
from controlplane.gateway.ended import Ended
from controlplane.gateway.entry import Entry, Stage
from controlplane.gateway.hops import KIB, evictable, forwarded, kept, own, path, refusing, too_long
from controlplane.gateway.refusals import Refusal
from controlplane.gateway.unreadable import Connection
from controlplane.render.envoy.answers import LONG_HEADERS, TOO_LARGE

CONNECT_S = 2.0
LATE, PASSED = "engine-silent", "deadline-passed"
UNREACHED, CUT, NOBODY = "engine-unreachable", "engine-reset", "no-endpoints"
BACKLOG = 4096


class Proxy:
    """Takes requests, admits them through the door, and passes them to an engine."""

    def __init__(
        self, door: Door, heard: Callable[[list[Ended]], None], probing: Callable[[str], None]
    ) -> None:
        """Serve through this door; tell how requests ended, and which are probes."""
        self._door, self._heard, self._probing = door, heard, probing
        self._busy: dict[str, int] = {}  # requests by replica
        self._turn = itertools.count()
        self._session: aiohttp.ClientSession | None = None
        self._runner: web.AppRunner | None = None
        self._port: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; give the port. Several workers may share one."""
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=4.0)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        self._session = aiohttp.ClientSession(
            connector=connector, timeout=timeout, auto_decompress=False
        )
        policy = self._door.directory.policy
        app = web.Application(client_max_size=policy.longest_body)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, handler_cancellation=True)
        await self._runner.setup()
        if self._runner.server is None:
            raise RuntimeError("the server has not been set up")
        connection = partial(Connection, self._runner.server, **_bounds(policy))
        self._port = await asyncio.get_running_loop().create_server(
            connection, host, port, reuse_port=True, backlog=BACKLOG
        )
        return int(self._port.sockets[0].getsockname()[1])

    async def stop(self, grace_s: float) -> None:
        """Take nothing new; let what is under way finish, for so long."""
        if self._port is not None:
            self._port.close()
        if self._runner is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    while self._door.busy:  # noqa: ASYNC110  # every request ends by itself
                        await asyncio.sleep(0.02)
            await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        headers[":path"] = path(request)
        headers[":authority"] = request.host
        if too_long(request.raw_headers, self._door.directory.policy):
            return own(LONG_HEADERS)
        try:
            ahead, body = await read_ahead(request, headers, self._door.directory)
        except web.HTTPRequestEntityTooLarge:
            return own(TOO_LARGE)
        entered = self._door.enter(headers, body)
        if isinstance(entered, Refusal):
            return refusing(entered)
        desk, entry = entered
        try:
            if entry.stage is Stage.WAITING and entry.moved is not None:
                ahead = await waited(request, entry.moved, ahead)
            if entry.stage is Stage.REFUSED and entry.refusal is not None:
                return refusing(entry.refusal)
            passing = self._pass(request, desk, entry, ahead)
            return await (passing if entry.evict is None else evictable(passing, entry.evict))
        finally:
            desk.end(entry)

    async def _pass(
        self, request: web.Request, desk: Desk, entry: Entry, ahead: bytes | None
    ) -> web.StreamResponse:
        """Pass an admitted request to an engine, and its answer back."""
        if entry.probe:
            self._probing(desk.model.name)
        asked, tried = entry.asked, set[str]()
        lent = (entry.pool if entry.ticket is None else entry.ticket.pool) is LENT
        body = passed_on(request, ahead)
        while True:
            at = self._pick(desk.model.lending if lent else desk.model.serving, tried)
            if at is None:
                if tried:  # none of them could be reached
                    return self._failed(desk, entry, UNREACHED, Answer(reset=True))
                return self._failed(desk, entry, NOBODY, None)
            tried.add(at.replica)
            self._busy[at.replica] = self._busy.get(at.replica, 0) + 1
            scheme = "https" if desk.model.tls else "http"
            host = f"[{at.host}]" if ":" in at.host else at.host
            url = f"{scheme}://{host}:{at.port}{asked.path or path(request)}"
            try:
                return await self._exchange(request, desk, entry, url, body)
            except aiohttp.ClientConnectorError:
                if isinstance(body, AsyncIterator) and request.content.total_bytes:
                    return self._failed(desk, entry, UNREACHED, Answer(reset=True))
            finally:
                self._busy[at.replica] -= 1

    async def _exchange(
        self,
        request: web.Request,
        desk: Desk,
        entry: Entry,
        url: str,
        body: bytes | AsyncIterator[bytes] | None,
    ) -> web.StreamResponse:
        """Ask one engine; raises ClientConnectorError when it cannot be reached."""
        if self._session is None:
            raise RuntimeError("the proxy has not started")
        given: web.StreamResponse | None = None
        asked = entry.asked
        left = (
            None if asked.deadline_s is None else asked.deadline_s - (stopwatch() - entry.arrived)
        )
        limit = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_S, sock_read=desk.model.breaker.silence_s
        )
        try:
            async with (
                asyncio.timeout(left),
                self._session.request(
                    request.method,
                    URL(url, encoded=True),
                    headers=forwarded(request, keyed=asked.keyed),
                    data=body,
                    allow_redirects=False,
                    timeout=limit,
                ) as said,
            ):
                given = web.StreamResponse(status=said.status, reason=said.reason)
                given.headers.extend(kept(said.headers))
                await given.prepare(request)
                async for chunk in said.content.iter_any():
                    await given.write(chunk)
                await given.write_eof()
                busy = "retry-after" in said.headers
                self._tell(desk, entry, Answer(status=said.status, busy=busy))
                return given
        except aiohttp.ClientConnectorError:
            raise
        except (TimeoutError, aiohttp.ClientError, ConnectionResetError) as cause:
            gone = request.transport is None or request.transport.is_closing()
            return self._failed(desk, entry, *_fault(cause, gone=gone), given)

    def _pick(self, members: tuple[Endpoint, ...], tried: set[str]) -> Endpoint | None:
        """Choose the least busy replica by its slots; equals take turns."""
        free = [at for at in members if at.taking and at.replica not in tried]
        turn = next(self._turn)
        order = free[turn % len(free) :] + free[: turn % len(free)] if free else []
        return min(
            order, key=lambda at: self._busy.get(at.replica, 0) / max(at.slots, 1), default=None
        )

    def _failed(
        self,
        desk: Desk,
        entry: Entry,
        reason: str,
        answer: Answer | None,
        given: web.StreamResponse | None = None,
    ) -> web.StreamResponse:
        """Say what went wrong; an answer that has begun can only be cut off."""
        if answer is not None:
            self._tell(desk, entry, answer)
        if given is not None:
            given.force_close()
            raise ConnectionResetError("the engine's answer broke off")
        return own(reason)

    def _tell(self, desk: Desk, entry: Entry, answer: Answer) -> None:
        self._heard([Ended(desk.model.name, meaning(answer), entry.probe)])


def _bounds(policy: GatewayPolicy) -> dict[str, Any]:
    """Give how a connection reads."""
    size = policy.longest_headers_kib * KIB
    return {
        "loop": asyncio.get_running_loop(),
        "access_log": None,
        "max_line_size": size,
        "max_field_size": size,
        "max_headers": policy.most_headers,
        "auto_decompress": False,
    }


def _fault(cause: Exception, *, gone: bool) -> tuple[str, Answer | None]:
    """Say what an exchange that broke off means: for the client, and for the breaker."""
    if isinstance(cause, aiohttp.ServerTimeoutError):
        return LATE, Answer(timed_out=True)
    if isinstance(cause, TimeoutError):
        return PASSED, None
    return CUT, Answer(client_left=True) if gone else Answer(reset=True)
