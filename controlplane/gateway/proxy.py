"""The gateway without Envoy, for small installations: a reverse proxy with the same admission.

Bodies are passed on as they come, both ways; only an OpenAI body is read ahead, for it names the
model. Whoever leaves, at whatever stage, frees the slot: the server cancels the request's task.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress

import aiohttp
import msgspec
from aiohttp import web
from yarl import URL

from controlplane.clock import stopwatch
from controlplane.decide.admission.capacity import LENT
from controlplane.decide.breakers.answers import Answer, meaning
from controlplane.domain.gateway import Endpoint
from controlplane.gateway.desk import Desk
from controlplane.gateway.door import Door
from controlplane.gateway.ended import Ended
from controlplane.gateway.entry import Entry, Stage
from controlplane.gateway.hops import evictable, forwarded, kept, own, refusing
from controlplane.gateway.refusals import Refusal
from controlplane.render.envoy.names import MODELS

CONNECT_S = 2.0
LATE = (504, "engine-silent")
UNREACHED = (502, "engine-unreachable")
CUT = (502, "engine-reset")
PASSED = (504, "deadline-passed")


class BodyModel(msgspec.Struct):
    """What is read of an OpenAI body."""

    model: str = ""
    max_tokens: float | None = None
    max_completion_tokens: float | None = None


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

    async def start(self, host: str, port: int) -> int:
        """Listen; give the port. Several workers may share one."""
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=4.0)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        self._session = aiohttp.ClientSession(
            connector=connector, timeout=timeout, auto_decompress=False
        )
        policy = self._door.directory.policy
        server = web.Application(client_max_size=policy.longest_body)
        server.router.add_route("*", "/{path:.*}", self._serve)
        size = policy.longest_headers_kib * 1024
        self._runner = web.AppRunner(
            server,
            access_log=None,
            handler_cancellation=True,
            max_line_size=size,
            max_field_size=size,
            auto_decompress=False,
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port, reuse_port=True, backlog=4096)
        await site.start()
        return int(self._runner.addresses[0][1])

    async def stop(self, grace_s: float) -> None:
        """Take nothing new; let what is under way finish, for so long."""
        if self._runner is not None:
            for site in list(self._runner.sites):
                await site.stop()
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    while self._door.busy:  # noqa: ASYNC110  # every request ends by itself
                        await asyncio.sleep(0.02)
            await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        headers[":path"] = request.raw_path
        headers[":authority"] = request.host
        most = self._door.directory.policy.most_headers
        if len(request.headers) > most:
            return own(431, "too-many-headers", f"{len(request.headers)} headers, {most} allowed")
        try:
            ahead, body = await self._read_ahead(request, headers)
        except web.HTTPRequestEntityTooLarge as cause:
            return own(413, "body-too-large", cause.text or "too large")
        entered = self._door.enter(headers, body)
        if isinstance(entered, Refusal):
            return refusing(entered)
        desk, entry = entered
        try:
            if entry.stage is Stage.WAITING and entry.moved is not None:
                ahead = await _waited(request, entry.moved, ahead)
            if entry.stage is Stage.REFUSED and entry.refusal is not None:
                return refusing(entry.refusal)
            passing = self._pass(request, desk, entry, ahead)
            return await (passing if entry.evict is None else evictable(passing, entry.evict))
        finally:
            desk.end(entry)

    async def _read_ahead(
        self, request: web.Request, headers: Mapping[str, str]
    ) -> tuple[bytes | None, dict[str, object] | None]:
        """Read a body that names the model, where nothing else does."""
        kind = headers.get("content-type", "").partition(";")[0].strip()
        directory = self._door.directory
        found = directory.find(headers, None)[0] is not None or request.path.startswith(MODELS)
        if found or kind != "application/json" or not request.body_exists:
            return None, None
        raw = await request.read()
        try:
            said = msgspec.json.decode(raw, type=BodyModel)
        except msgspec.MsgspecError:
            return raw, None
        return raw, msgspec.structs.asdict(said)

    async def _pass(
        self, request: web.Request, desk: Desk, entry: Entry, ahead: bytes | None
    ) -> web.StreamResponse:
        """Pass an admitted request to an engine, and its answer back."""
        if entry.probe:
            self._probing(desk.model.name)
        asked, tried = entry.asked, set[str]()
        lent = (entry.pool if entry.ticket is None else entry.ticket.pool) is LENT
        body = _body(request, ahead)
        while True:
            at = self._pick(desk.model.lending if lent else desk.model.serving, tried)
            if at is None:
                return self._failed(desk, entry, (503, "no-endpoints"), None)
            tried.add(at.replica)
            self._busy[at.replica] = self._busy.get(at.replica, 0) + 1
            scheme = "https" if desk.model.tls else "http"
            host = f"[{at.host}]" if ":" in at.host else at.host
            url = f"{scheme}://{host}:{at.port}{asked.path or request.raw_path}"
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
        said: tuple[int, str],
        answer: Answer | None,
        given: web.StreamResponse | None = None,
    ) -> web.StreamResponse:
        """Say what went wrong; an answer that has begun can only be cut off."""
        if answer is not None:
            self._tell(desk, entry, answer)
        if given is not None:
            given.force_close()
            raise ConnectionResetError("the engine's answer broke off")
        return own(*said, said[1].replace("-", " "))

    def _tell(self, desk: Desk, entry: Entry, answer: Answer) -> None:
        self._heard([Ended(desk.model.name, meaning(answer), entry.probe)])


async def _waited(
    request: web.Request, moved: asyncio.Future[None], ahead: bytes | None
) -> bytes | None:
    """Wait, and read the body meanwhile: who hangs up behind a body nobody reads is never seen."""
    if ahead is not None or not request.body_exists:
        await moved
        return ahead
    read = bytearray()
    reading = asyncio.ensure_future(_read(request, read))
    try:
        await moved
    finally:
        reading.cancel()
    return bytes(read)


async def _read(request: web.Request, read: bytearray) -> None:
    async for chunk in request.content.iter_any():
        read += chunk


def _body(request: web.Request, ahead: bytes | None) -> bytes | AsyncIterator[bytes] | None:
    """Give what is to be passed on: what was read already, and what is still to come."""
    if not request.body_exists:
        return None
    if request.content.at_eof():
        return ahead or b""
    return _chunks(request, ahead)


async def _chunks(request: web.Request, ahead: bytes | None) -> AsyncIterator[bytes]:
    if ahead:
        yield ahead
    async for chunk in request.content.iter_any():
        yield chunk


def _fault(cause: Exception, *, gone: bool) -> tuple[tuple[int, str], Answer | None]:
    """Say what an exchange that broke off means: for the client, and for the breaker."""
    if isinstance(cause, aiohttp.ServerTimeoutError):
        return LATE, Answer(timed_out=True)
    if isinstance(cause, TimeoutError):
        return PASSED, None
    return CUT, Answer(client_left=True) if gone else Answer(reset=True)
