"""vLLM 0.5: the old name of the cache's use, no queue time, no sleep, one label."""

from aiohttp import web

from controlplane.emulation.engine import Engine
from controlplane.emulation.exposition import Family, Series, counter, gauge, histogram
from controlplane.emulation.faces.face import Face, empty_health, queue_full
from controlplane.emulation.faces.vllm import PER_TOKEN_S

LATENCY_S = (1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0)
FIRST_TOKEN_S = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0)
HISTOGRAMS = (
    ("e2e", "vllm:e2e_request_latency_seconds", "Histogram of end to end request latency."),
    ("ttft", "vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds."),
    ("itl", "vllm:time_per_output_token_seconds", "Histogram of time per output token."),
)


def families(engine: Engine) -> list[Family]:
    """Give all metrics."""
    book, labels = engine.book, {"model_name": engine.spec.model}
    success = tuple(
        Series("", {**labels, "finished_reason": reason}, count)
        for reason, count in book.ended.items()
    )
    return [
        gauge("vllm:num_requests_running", "Requests on the GPU.", engine.running, labels),
        gauge("vllm:num_requests_swapped", "Requests swapped to CPU.", 0, labels),
        gauge("vllm:num_requests_waiting", "Requests waiting.", engine.waiting, labels),
        gauge("vllm:gpu_cache_usage_perc", "GPU KV-cache usage.", engine.kv_usage, labels),
        gauge("vllm:cpu_cache_usage_perc", "CPU KV-cache usage.", 0, labels),
        counter("vllm:num_preemptions_total", "Cumulative preemptions.", 0, labels),
        counter("vllm:prompt_tokens_total", "Prefill tokens.", book.prompt_tokens, labels),
        counter("vllm:generation_tokens_total", "Tokens made.", book.generation_tokens, labels),
        Family("vllm:request_success_total", "counter", "Requests processed.", success),
        *(histogram(name, about, book.histograms[key], labels) for key, name, about in HISTOGRAMS),
    ]


def routes(engine: Engine) -> list[web.RouteDef]:
    """Health, with an empty body."""
    return [web.get("/health", empty_health(engine))]


FACE = Face(
    buckets={"e2e": LATENCY_S, "ttft": FIRST_TOKEN_S, "itl": PER_TOKEN_S},
    families=families,
    routes=routes,
    refusal=queue_full,
)
