"""What makes up a face, and the answers several engines share."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from controlplane.emulation.engine import Engine
from controlplane.emulation.exposition import Family

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One engine's looks."""

    buckets: Mapping[str, Sequence[float]]  # of its histograms, by what they measure
    families: Callable[[Engine], list[Family]]
    routes: Callable[[Engine], list[web.RouteDef]]  # health, and what only this engine has
    refusal: Callable[[], web.Response]  # its queue is full
    native: tuple[str, ...] = ()  # paths of its own generation call
    opens_at_once: bool = False  # else the port opens once the model is loaded


def as_json(payload: Any, status: int = 200) -> web.Response:
    """Answer with JSON."""
    return web.Response(
        body=msgspec.json.encode(payload), status=status, content_type="application/json"
    )


def openai_error(message: str, kind: str, status: int) -> web.Response:
    """Answer as the OpenAI-compatible servers do when they cannot."""
    return as_json(
        {"error": {"message": message, "type": kind, "param": None, "code": status}}, status
    )


def queue_full() -> web.Response:
    """503, as vLLM and SGLang say it."""
    return openai_error("The request queue is full.", "ServiceUnavailableError", 503)


def well(engine: Engine) -> bool:
    """Say whether health should say so."""
    return engine.loaded and not engine.faults.now.unhealthy


def empty_health(engine: Engine, broken: int = 503) -> Answer:
    """Give health without a body: 200, or this status when broken or still loading."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=200 if well(engine) else broken)

    return answer


def kserve_routes(engine: Engine, broken: int) -> list[web.RouteDef]:
    """Give the routes of KServe's open inference protocol: live, ready, and of the model."""
    ready = empty_health(engine, broken)

    async def live(_: web.Request) -> web.Response:
        return web.Response()

    async def model_ready(request: web.Request) -> web.StreamResponse:
        if request.match_info["model"] != engine.spec.model:
            return as_json({"error": "unknown model"}, 404)
        return await ready(request)

    return [
        web.get("/v2/health/live", live),
        web.get("/v2/health/ready", ready),
        web.get("/v2/models/{model}/ready", model_ready),
    ]
