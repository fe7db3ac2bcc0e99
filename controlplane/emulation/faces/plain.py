"""A server of one's own: health in JSON (`model_loaded`), and the seeds' one metric."""

from aiohttp import web

from controlplane.emulation.engine import Engine
from controlplane.emulation.exposition import Family, gauge
from controlplane.emulation.faces.face import Face, as_json, queue_full, well


def families(engine: Engine) -> list[Family]:
    """Give the one metric."""
    return [gauge("model_queue_depth", "Waiting.", engine.waiting, {"model": engine.spec.model})]


def routes(engine: Engine) -> list[web.RouteDef]:
    """Health that says more than 200."""

    async def health(_: web.Request) -> web.Response:
        return as_json({"status": "ok", "model_loaded": well(engine)})

    return [web.get("/health", health)]


FACE = Face(
    buckets={"e2e": ()}, families=families, routes=routes, refusal=queue_full, opens_at_once=True
)
