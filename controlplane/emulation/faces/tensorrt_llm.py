"""trtllm-serve: names like vLLM's under its own prefix."""

from aiohttp import web

from controlplane.emulation.engine import Engine
from controlplane.emulation.exposition import Family, Series, gauge, histogram
from controlplane.emulation.faces.face import Face, empty_health, queue_full
from controlplane.emulation.faces.vllm import FIRST_TOKEN_S, LATENCY_S

HISTOGRAMS = (
    ("e2e", "trtllm_e2e_request_latency_seconds"),
    ("ttft", "trtllm_time_to_first_token_seconds"),
    ("queue", "trtllm_request_queue_time_seconds"),
)


def families(engine: Engine) -> list[Family]:
    """Give all metrics."""
    book, labels = engine.book, {"model_name": engine.spec.model, "engine_type": "trtllm"}
    success = tuple(
        Series("", {**labels, "finished_reason": reason}, count)
        for reason, count in book.ended.items()
    )
    return [
        gauge("trtllm_num_requests_running", "Active requests.", engine.running, labels),
        gauge("trtllm_num_requests_waiting", "Queued requests.", engine.waiting, labels),
        gauge("trtllm_kv_cache_utilization", "KV cache in use.", engine.kv_usage, labels),
        Family("trtllm_request_success_total", "counter", "Requests processed.", success),
        *(histogram(name, name, book.histograms[key], labels) for key, name in HISTOGRAMS),
    ]


def routes(engine: Engine) -> list[web.RouteDef]:
    """Health, with an empty body."""
    return [web.get("/health", empty_health(engine))]


FACE = Face(
    buckets={"e2e": LATENCY_S, "queue": LATENCY_S, "ttft": FIRST_TOKEN_S},
    families=families,
    routes=routes,
    refusal=queue_full,
)
