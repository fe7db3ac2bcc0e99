"""Bodies of requests as the proxy reads them: ahead, where that must be, else as they come.

A body that names the model is read before a desk is found, and so is one whose length nobody said,
for prompts, queues and limits are judged by it. All others are passed on as they come.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from aiohttp import web

from controlplane.gateway.asking import Directory
from controlplane.render.envoy.names import MODELS

LENGTH = "content-length"


class BodyModel(msgspec.Struct):
    """What is read of an OpenAI body; whether its figures are numbers is the engine's to say."""

    model: Any = ""
    max_tokens: Any = None
    max_completion_tokens: Any = None


async def read_ahead(
    request: web.Request, headers: dict[str, str], directory: Directory
) -> tuple[bytes | None, dict[str, object] | None]:
    """Read what must be known first, and note how long it is in `headers`.

    Raises HTTPRequestEntityTooLarge as soon as the body is known to be longer than allowed.
    """
    if not request.body_exists:
        return None, None
    kind = headers.get("content-type", "").partition(";")[0].strip()
    found = directory.find(headers, None)[0] is not None or headers[":path"].startswith(MODELS)
    named = not found and kind == "application/json"
    if not named and LENGTH in headers:
        return None, None
    most = directory.policy.longest_body
    if request.content_length is not None and request.content_length > most:
        raise web.HTTPRequestEntityTooLarge(most, request.content_length)
    raw = await request.read()
    headers[LENGTH] = str(len(raw))
    return raw, _said(raw) if named else None


def _said(raw: bytes) -> dict[str, object] | None:
    try:
        said = msgspec.json.decode(raw, type=BodyModel)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # the last: it is too deep
        return None
    name = said.model if isinstance(said.model, str) else ""
    return msgspec.structs.asdict(said) | {"model": name}


async def waited(
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


def passed_on(request: web.Request, ahead: bytes | None) -> bytes | AsyncIterator[bytes] | None:
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
