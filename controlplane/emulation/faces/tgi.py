"""Text Generation Inference: 429 when full, durations without a unit in their names."""

from aiohttp import web

from controlplane.emulation.engine import Engine
from controlplane.emulation.exposition import Family, Series, counter, gauge, histogram
from controlplane.emulation.faces.face import Face, as_json, well

DURATION_S = tuple(0.00001 * 1.5**step for step in range(1, 36))
HISTOGRAMS = (
    ("e2e", "tgi_request_duration"),
    ("queue", "tgi_request_queue_duration"),
    ("inference", "tgi_request_inference_duration"),
    ("per_token", "tgi_request_mean_time_per_token_duration"),
)


def families(engine: Engine) -> list[Family]:
    """Give all metrics; TGI labels none of them with its model."""
    book = engine.book
    refused = Series("", {"err": "overloaded"}, book.refused)
    broken = Series("", {"err": "generation"}, book.failed)
    return [
        gauge("tgi_queue_size", "Requests waiting.", engine.waiting, {}),
        gauge("tgi_batch_current_size", "Requests in the batch.", engine.running, {}),
        gauge("tgi_batch_current_max_tokens", "Tokens held.", engine.tokens_held, {}),
        counter("tgi_request_count", "Requests.", book.received, {}),
        counter("tgi_request_success", "Requests that succeeded.", book.succeeded, {}),
        Family("tgi_request_failure", "counter", "Requests that failed.", (refused, broken)),
        *(histogram(name, name, book.histograms[key], {}) for key, name in HISTOGRAMS),
    ]


def routes(engine: Engine) -> list[web.RouteDef]:
    """Health that explains itself when it is bad, and what model it is."""

    async def health(_: web.Request) -> web.Response:
        if well(engine):
            return web.Response()
        return as_json({"error": "unhealthy", "error_type": "healthcheck"}, 503)

    async def about(_: web.Request) -> web.Response:
        spec = engine.spec
        return as_json({"model_id": spec.model, "max_concurrent_requests": spec.queue_limit or 128})

    return [web.get("/health", health), web.get("/info", about)]


def refusal() -> web.Response:
    """429, where others say 503."""
    return as_json({"error": "Model is overloaded", "error_type": "overloaded"}, 429)


FACE = Face(
    buckets={key: DURATION_S for key, _ in HISTOGRAMS},
    families=families,
    native=("/generate",),
    routes=routes,
    refusal=refusal,
)
