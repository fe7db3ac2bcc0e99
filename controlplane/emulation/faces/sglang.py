"""SGLang: its port is open while it starts (503), and its health really generates a token.

It exports one series for each rank of a replica, all with the same figures.
"""

import asyncio

from aiohttp import web

from controlplane.emulation.engine import Engine
from controlplane.emulation.exposition import Family, Series, counter, histogram
from controlplane.emulation.faces.face import Face, as_json, empty_health, queue_full, well

HEALTH_TAKES_S = 1.0  # it polls for its token once a second
HEALTH_LIMIT_S = 20.0
E2E_S = (
    0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 600, 1200, 1800,
    2400,
)  # fmt: skip
FIRST_TOKEN_S = (0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400)
PER_TOKEN_S = (
    0.002, 0.004, 0.006, 0.008, 0.010, 0.015, 0.020, 0.025, 0.030, 0.035, 0.040, 0.060, 0.080,
    0.100, 0.200, 0.400, 0.600, 0.800, 1.000, 2.000, 4.000, 6.000, 8.000,
)  # fmt: skip
QUEUE_S = (
    0.0, 0.001, 0.005, 0.010, 0.050, 0.100, 0.200, 0.500, 1, 2, 3, 4, 5, 10, 15, 20, 30, 40, 50,
    60, 70, 80, 90, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1200, 1400, 1600, 1800,
    2000, 2500, 3000,
)  # fmt: skip


def families(engine: Engine) -> list[Family]:
    """Give all metrics: the scheduler's for each rank, the tokenizer's once."""
    book, model = engine.book, {"model_name": engine.spec.model}
    ranks = [
        {
            **model,
            "engine_type": "unified",
            "tp_rank": str(rank),
            "pp_rank": "0",
            "moe_ep_rank": "0",
        }
        for rank in range(engine.spec.ranks)
    ]
    gauges = {
        "sglang:num_running_reqs": engine.running,
        "sglang:num_used_tokens": engine.tokens_held,
        "sglang:token_usage": engine.kv_usage,
        "sglang:gen_throughput": engine.running / max(engine.spec.service_s, 0.001),
        "sglang:num_queue_reqs": engine.waiting,
    }
    scheduler = [
        Family(name, "gauge", name, tuple(Series("", labels, value) for labels in ranks))
        for name, value in gauges.items()
    ]
    queue = histogram(
        "sglang:queue_time_seconds", "Queueing time.", book.histograms["queue"], ranks[0]
    )
    first = {**model, "is_streaming": "true"}
    seen = book.histograms
    return [
        *scheduler,
        queue,
        counter("sglang:prompt_tokens_total", "Prefill tokens.", book.prompt_tokens, model),
        counter("sglang:generation_tokens_total", "Tokens made.", book.generation_tokens, model),
        counter("sglang:num_requests_total", "Requests processed.", book.succeeded, model),
        counter("sglang:num_aborted_requests_total", "Aborted.", book.ended["abort"], model),
        histogram("sglang:time_to_first_token_seconds", "First token.", seen["ttft"], first),
        histogram("sglang:inter_token_latency_seconds", "Between tokens.", seen["itl"], model),
        histogram("sglang:e2e_request_latency_seconds", "End to end.", seen["e2e"], model),
    ]


def routes(engine: Engine) -> list[web.RouteDef]:
    """Health that generates, a flag that does not, and what model it is."""

    async def generating(_: web.Request) -> web.Response:
        if not well(engine):
            return web.Response(status=503)
        try:
            async with asyncio.timeout(HEALTH_LIMIT_S):
                await asyncio.sleep(HEALTH_TAKES_S)
                while engine.faults.now.hang or engine.asleep:
                    await engine.faults.changed()
        except TimeoutError:
            return web.Response(status=503)
        return web.Response()

    async def model_info(_: web.Request) -> web.Response:
        return as_json({"model_path": engine.spec.model, "weight_version": "default"})

    return [
        web.get("/health", generating),
        web.get("/health_generate", generating),
        web.get("/ready", empty_health(engine)),
        web.get("/model_info", model_info),
    ]


FACE = Face(
    buckets={"e2e": E2E_S, "ttft": FIRST_TOKEN_S, "itl": PER_TOKEN_S, "queue": QUEUE_S},
    families=families,
    native=("/generate",),
    routes=routes,
    refusal=queue_full,
    opens_at_once=True,
)
