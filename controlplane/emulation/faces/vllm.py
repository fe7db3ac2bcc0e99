"""vLLM since 0.9.2: empty health, the port opens once loaded, it can sleep.

`/health` says only that the engine is not dead: a sleeping one still answers 200.
"""

from aiohttp import web

from controlplane.emulation.engine import Engine
from controlplane.emulation.exposition import Family, Series, counter, gauge, histogram
from controlplane.emulation.faces.face import Face, as_json, empty_health, queue_full

LATENCY_S = (
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0,
    240.0, 480.0, 960.0, 1920.0, 7680.0,
)  # fmt: skip
FIRST_TOKEN_S = (
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
)  # fmt: skip
PER_TOKEN_S = (
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0,
)  # fmt: skip
HISTOGRAMS = (
    ("e2e", "vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds."),
    ("ttft", "vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds."),
    ("itl", "vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds."),
    ("per_token", "vllm:request_time_per_output_token_seconds", "Histogram of its mean."),
    ("queue", "vllm:request_queue_time_seconds", "Histogram of time spent in WAITING phase."),
    ("inference", "vllm:request_inference_time_seconds", "Histogram of time in RUNNING phase."),
    ("prefill", "vllm:request_prefill_time_seconds", "Histogram of time in PREFILL phase."),
    ("decode", "vllm:request_decode_time_seconds", "Histogram of time in DECODE phase."),
)
SLEEP_STATES = {"awake": None, "weights_offloaded": 1, "discard_all": 2}


def families(engine: Engine) -> list[Family]:
    """Give all metrics."""
    book, labels = engine.book, {"model_name": engine.spec.model, "engine": "0"}
    success = tuple(
        Series("", {**labels, "finished_reason": reason}, count)
        for reason, count in book.ended.items()
    )
    refused = Series("", {**labels, "reason": "max_num_queued_reqs"}, book.refused)
    waits = (("capacity", engine.waiting), ("deferred", 0))
    by_reason = tuple(Series("", {**labels, "reason": why}, count) for why, count in waits)
    asleep = tuple(
        Series("", {**labels, "sleep_state": state}, engine.sleep_level == level)
        for state, level in SLEEP_STATES.items()
    )
    return [
        gauge("vllm:num_requests_running", "Requests in model execution.", engine.running, labels),
        gauge("vllm:num_requests_waiting", "Requests waiting.", engine.waiting, labels),
        Family("vllm:num_requests_waiting_by_reason", "gauge", "Requests waiting.", by_reason),
        Family("vllm:engine_sleep_state", "gauge", "Engine sleep state.", asleep),
        gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 is full.", engine.kv_usage, labels),
        counter("vllm:prompt_tokens_total", "Prefill tokens.", book.prompt_tokens, labels),
        counter("vllm:generation_tokens_total", "Tokens made.", book.generation_tokens, labels),
        counter("vllm:num_preemptions_total", "Cumulative preemptions.", 0, labels),
        counter("vllm:prefix_cache_queries_total", "Tokens looked up.", book.prompt_tokens, labels),
        counter("vllm:prefix_cache_hits_total", "Tokens found.", 0, labels),
        Family("vllm:request_success_total", "counter", "Requests processed.", success),
        Family("vllm:admission_rejections_total", "counter", "Requests refused.", (refused,)),
        *(histogram(name, about, book.histograms[key], labels) for key, name, about in HISTOGRAMS),
    ]


def routes(engine: Engine) -> list[web.RouteDef]:
    """Health, version, and sleep where the engine was started for it."""
    health = empty_health(engine)

    async def version(_: web.Request) -> web.Response:
        return as_json({"version": "0.33.0"})

    async def load(_: web.Request) -> web.Response:
        return as_json({"server_load": engine.running + engine.waiting})

    found = [web.get("/health", health), web.get("/ping", health), web.post("/ping", health)]
    found += [web.get("/version", version), web.get("/load", load)]
    return found + (_sleep_routes(engine) if engine.spec.may_sleep else [])


def _sleep_routes(engine: Engine) -> list[web.RouteDef]:
    async def sleep(request: web.Request) -> web.Response:
        level = int(request.query.get("level", "1"))
        engine.sleep(level, request.query.get("mode", "abort"))
        return as_json({"status": "sleeping", "level": level})

    async def wake_up(request: web.Request) -> web.Response:
        tags = request.query.getall("tags", [])
        if not tags or "kv_cache" in tags:  # weights alone are half of the way
            await engine.wake_up()
        return as_json({"status": "sleeping" if engine.asleep else "awake", "tags": tags})

    async def is_sleeping(_: web.Request) -> web.Response:
        return as_json({"is_sleeping": engine.asleep})

    return [
        web.post("/sleep", sleep),
        web.post("/wake_up", wake_up),
        web.get("/is_sleeping", is_sleeping),
    ]


FACE = Face(
    buckets={
        **dict.fromkeys(("e2e", "queue", "inference", "prefill", "decode"), LATENCY_S),
        "ttft": FIRST_TOKEN_S,
        **dict.fromkeys(("itl", "per_token"), PER_TOKEN_S),
    },
    families=families,
    routes=routes,
    refusal=queue_full,
)
