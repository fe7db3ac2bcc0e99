"""MindIE on Ascend: metrics without a prefix, KServe's health beside its own."""

from aiohttp import web

from controlplane.emulation.book import Histogram
from controlplane.emulation.engine import Engine
from controlplane.emulation.exposition import Family, counter, gauge, histogram
from controlplane.emulation.faces.face import (
    Face,
    as_json,
    empty_health,
    kserve_routes,
    queue_full,
)

FIRST_TOKEN_S = (
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
)  # fmt: skip
PER_TOKEN_S = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
E2E_S = (1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0)


def families(engine: Engine) -> list[Family]:
    """Give all metrics."""
    book, labels = engine.book, {"model_name": engine.spec.model}
    gauges = {
        "num_requests_running": engine.running,
        "num_requests_waiting": engine.waiting,
        "num_requests_swapped": 0,
        "npu_cache_usage_perc": engine.kv_usage,
        "cpu_cache_usage_perc": 0,
    }
    counters = {
        "request_received_total": book.received,
        "request_success_total": book.succeeded,
        "request_failed_total": book.failed + book.refused,
        "num_preemptions_total": 0,
        "prompt_tokens_total": book.prompt_tokens,
        "generation_tokens_total": book.generation_tokens,
    }
    seen = book.histograms
    return [
        *(gauge(name, name, value, labels) for name, value in gauges.items()),
        *(counter(name, name, value, labels) for name, value in counters.items()),
        histogram("time_to_first_token_seconds", "First token.", seen["ttft"], labels),
        histogram("time_per_output_token_seconds", "Between tokens.", seen["itl"], labels),
        histogram("e2e_request_latency_seconds", "End to end.", seen["e2e"], labels),
    ]


def _mean_ms(seen: Histogram) -> float:
    return 1000.0 * seen.sum / seen.count if seen.count else 0.0


def routes(engine: Engine) -> list[web.RouteDef]:
    """Health in both forms, and its metrics as JSON, whose values are strings."""

    async def as_text(_: web.Request) -> web.Response:
        free = engine.spec.kv_room - engine.tokens_held
        first, between = (engine.book.histograms[name] for name in ("ttft", "itl"))
        return as_json(
            {
                "TTFT": f"{_mean_ms(first):.0f}",
                "TBT": f"{_mean_ms(between):.0f}",
                "waitingInferRequestNum": str(engine.waiting),
                "processingInferRequestNum": str(engine.running),
                "remainBlocks": str(free // 128),
            }
        )

    return [
        web.get("/health", empty_health(engine)),
        web.get("/metrics-json", as_text),
        *kserve_routes(engine, broken=503),
    ]


FACE = Face(
    buckets={"ttft": FIRST_TOKEN_S, "itl": PER_TOKEN_S, "e2e": E2E_S},
    families=families,
    native=("/v2/models/{model}/generate", "/v2/models/{model}/infer"),
    routes=routes,
    refusal=queue_full,
)
