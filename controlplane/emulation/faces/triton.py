"""Triton with its TensorRT-LLM backend: KServe's protocol, counters in microseconds, no buckets.

Played as under explicit model control: the server is live at once, the model ready once loaded.
"""

from aiohttp import web

from controlplane.emulation.engine import Engine
from controlplane.emulation.exposition import Family, Series, counter, gauge
from controlplane.emulation.faces.face import Face, as_json, kserve_routes

US = 1_000_000.0
BLOCK_TOKENS = 64


def families(engine: Engine) -> list[Family]:
    """Give all metrics."""
    book, labels = engine.book, {"model": engine.spec.model, "version": "1"}
    seen = book.histograms
    counters = {
        "nv_inference_request_success": book.succeeded,
        "nv_inference_count": book.succeeded,
        "nv_inference_exec_count": book.succeeded,
        "nv_inference_request_duration_us": seen["e2e"].sum * US,
        "nv_inference_queue_duration_us": seen["queue"].sum * US,
        "nv_inference_compute_infer_duration_us": seen["inference"].sum * US,
    }
    reasons = {"REJECTED": book.refused, "CANCELED": book.ended["abort"], "BACKEND": book.failed}
    failures = tuple(Series("", {**labels, "reason": why}, n) for why, n in reasons.items())
    return [
        *(counter(name, name, value, labels) for name, value in counters.items()),
        Family("nv_inference_request_failure", "counter", "Failed requests.", failures),
        gauge("nv_inference_pending_request_count", "Awaiting.", engine.waiting, labels),
        *_backend(engine, labels),
    ]


def _backend(engine: Engine, labels: dict[str, str]) -> list[Family]:
    requests = {
        "waiting": engine.waiting,
        "scheduled": engine.running,
        "active": engine.running + engine.waiting,
        "max": engine.spec.slots,
    }
    most = engine.spec.kv_room // BLOCK_TOKENS
    used = engine.tokens_held // BLOCK_TOKENS
    blocks = {"fraction": engine.kv_usage, "used": used, "free": most - used, "max": most}
    return [
        Family(
            "nv_trt_llm_request_metrics",
            "gauge",
            "Requests of the backend.",
            tuple(Series("", {**labels, "request_type": k}, n) for k, n in requests.items()),
        ),
        Family(
            "nv_trt_llm_kv_cache_block_metrics",
            "gauge",
            "Blocks of the KV cache.",
            tuple(Series("", {**labels, "kv_cache_block_type": k}, n) for k, n in blocks.items()),
        ),
    ]


def routes(engine: Engine) -> list[web.RouteDef]:
    """KServe's; what is not ready is a bad request here."""
    return kserve_routes(engine, broken=400)


def refusal() -> web.Response:
    """503, in Triton's words."""
    return as_json({"error": "[request id: <id_unknown>] Exceeds maximum queue size"}, 503)


FACE = Face(
    buckets=dict.fromkeys(("e2e", "queue", "inference"), ()),
    families=families,
    native=("/v2/models/{model}/generate", "/v2/models/{model}/infer"),
    routes=routes,
    refusal=refusal,
    opens_at_once=True,
)
