"""The web application around one engine: its routes, its metrics, and a path to break it by."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiohttp import web

from controlplane.emulation.engine import Engine
from controlplane.emulation.exposition import CONTENT_TYPE, text
from controlplane.emulation.faces.face import Face, as_json
from controlplane.emulation.openai import Completions

CONTROL = "/emulation"
PAGE = b"<!doctype html><html><body><h1>Welcome</h1></body></html>"
Next = Callable[[web.Request], Awaitable[web.StreamResponse]]


def make_app(engine: Engine, face: Face, *, metrics_only: bool = False) -> web.Application:
    """Build it; `metrics_only` for a port of its own, as Triton has one."""
    app = web.Application(middlewares=[_broken_as_told(engine)], client_max_size=64 * 2**20)
    app.add_routes([web.get("/metrics", _metrics(engine, face))])
    if not metrics_only:
        app.add_routes(Completions(engine, face).routes())
        app.add_routes(face.routes(engine))
        app.add_routes(_control(engine))
    return app


def _broken_as_told(engine: Engine) -> Any:
    """Come before everything but the control path."""

    @web.middleware
    async def middleware(request: web.Request, handler: Next) -> web.StreamResponse:
        faults = engine.faults
        if request.path.startswith(CONTROL):
            return await handler(request)
        metrics = request.path == "/metrics"
        while faults.now.mute or (metrics and faults.now.mute_metrics):
            await faults.changed()
        if faults.now.html or (metrics and faults.now.html_metrics):
            return web.Response(body=PAGE, content_type="text/html")
        response = await handler(request)
        if faults.now.wrong_json and isinstance(response, web.Response) and not metrics:
            return _cut_short(response)
        return response

    return middleware


def _cut_short(response: web.Response) -> web.Response:
    body = response.body
    if response.content_type != "application/json" or not isinstance(body, bytes):
        return response
    return web.Response(
        body=body[: len(body) // 2], status=response.status, content_type="application/json"
    )


def _metrics(engine: Engine, face: Face) -> Next:
    async def metrics(_: web.Request) -> web.StreamResponse:
        faults = engine.faults.now
        if faults.metrics_status is not None:
            return web.Response(text="0", status=faults.metrics_status)
        written = text(face.families(engine), hide=faults.hide, all_nan=faults.nan_metrics)
        return web.Response(body=written.encode(), headers={"Content-Type": CONTENT_TYPE})

    return metrics


def _control(engine: Engine) -> list[web.RouteDef]:
    async def faults(_: web.Request) -> web.Response:
        return as_json(engine.faults.now)

    async def change(request: web.Request) -> web.Response:
        try:
            asked = msgspec.json.decode(await request.read(), type=dict[str, Any])
            return as_json(engine.faults.change(asked))
        except (ValueError, msgspec.MsgspecError) as cause:
            return as_json({"error": str(cause)}, 400)

    async def state(_: web.Request) -> web.Response:
        book = engine.book
        return as_json(
            {
                "loaded": engine.loaded,
                "asleep": engine.asleep,
                "running": engine.running,
                "waiting": engine.waiting,
                "received": book.received,
                "succeeded": book.succeeded,
                "aborted": book.ended["abort"],
            }
        )

    return [
        web.get(f"{CONTROL}/faults", faults),
        web.post(f"{CONTROL}/faults", change),
        web.get(f"{CONTROL}/state", state),
    ]


async def die_as_told(engine: Engine) -> None:
    """End the process as the faults say: no flush, no farewell, as a killed one."""
    while True:
        after = engine.faults.now.die_after_s
        try:
            async with asyncio.timeout(after):
                await engine.faults.changed()
        except TimeoutError:
            os._exit(engine.faults.now.exit_code)
