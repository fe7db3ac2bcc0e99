"""What is passed on from one connection to the next, and what is not."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence

import msgspec
from aiohttp import web
from multidict import CIMultiDict

from controlplane.domain.entrances import GatewayPolicy
from controlplane.gateway.refusals import Refusal
from controlplane.render.envoy.answers import answer
from controlplane.render.envoy.names import API_KEY, CLUSTER, PROBE, TICKET

KIB = 1024

# Meant for one connection, not for the message; what `Connection` names comes on top.
HOP_BY_HOP = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
        "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
OURS = frozenset({TICKET, CLUSTER, PROBE})


def forwarded(request: web.Request, *, keyed: bool) -> CIMultiDict[str]:
    """Give the headers an engine gets: nothing of this hop, nothing of ours, no key of ours."""
    hidden = OURS | {"authorization", API_KEY} if keyed else OURS
    passed = kept(request.headers)
    for name in hidden:
        passed.popall(name, None)
    before = request.headers.get("x-forwarded-for")
    passed["X-Forwarded-For"] = f"{before}, {request.remote}" if before else str(request.remote)
    passed["X-Forwarded-Proto"] = request.scheme
    return passed


def kept(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """Leave out what is meant for one connection; what is said several times stays so."""
    named = {name.strip().lower() for name in headers.get("Connection", "").split(",")}
    left_out = HOP_BY_HOP | named
    return CIMultiDict((n, v) for n, v in headers.items() if n.lower() not in left_out)


def refusing(refusal: Refusal) -> web.Response:
    """Answer with a refusal of admission."""
    return web.Response(status=refusal.status, headers=dict(refusal.headers), body=refusal.body)


def own(reason: str) -> web.Response:
    """Answer by ourselves, for an engine that could not, as Envoy would."""
    status, headers, body = answer(reason)
    return web.Response(status=status, headers=headers, body=msgspec.json.encode(body) + b"\n")


def path(request: web.Request) -> str:
    """Give what is asked for, without the host that clients of a proxy put before it."""
    raw = request.raw_path
    return raw if raw.startswith("/") else str(request.rel_url)


def too_long(headers: Sequence[tuple[bytes, bytes]], policy: GatewayPolicy) -> bool:
    """Say whether there are more headers, or longer ones, than are allowed."""
    if len(headers) > policy.most_headers:
        return True
    return sum(len(n) + len(v) for n, v in headers) > policy.longest_headers_kib * KIB


async def evictable(
    passing: Coroutine[None, None, web.StreamResponse], evict: asyncio.Future[Refusal]
) -> web.StreamResponse:
    """Pass a request on until it has ended, or must make room; what has begun is cut off."""
    task = asyncio.ensure_future(passing)
    try:
        await asyncio.wait((task, evict), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
    finally:
        task.cancel()
    return refusing(evict.result())
