"""What each emulated engine says is what its original documents: kinds, labels, units, answers.

Names alone are looked at beside the adapter (`tests/adapters/engines/test_names`). Pages are read
by Prometheus' own parser, not by ours.
"""

import json
from collections.abc import Mapping

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from controlplane.emulation.faults import Faults
from controlplane.emulation.spec import FACES
from tests.emulation.stand import MODEL, Stand, emulated

VLLM = {"model_name": MODEL, "engine": "0"}
RANK = {
    "model_name": MODEL, "engine_type": "unified", "tp_rank": "0", "pp_rank": "0",
    "moe_ep_rank": "0",
}  # fmt: skip
OF_TRITON = {"model": MODEL, "version": "1"}
# engine, sample, the kind its page declares, labels
SAMPLES: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
    ("vllm", "vllm:num_requests_waiting", "gauge", VLLM),
    ("vllm", "vllm:num_requests_waiting_by_reason", "gauge", {**VLLM, "reason": "capacity"}),
    ("vllm", "vllm:kv_cache_usage_perc", "gauge", VLLM),
    ("vllm", "vllm:request_success_total", "counter", {**VLLM, "finished_reason": "length"}),
    ("vllm", "vllm:prefix_cache_queries_total", "counter", VLLM),
    ("vllm", "vllm:prefix_cache_hits_total", "counter", VLLM),
    ("vllm", "vllm:admission_rejections_total", "counter",
     {**VLLM, "reason": "max_num_queued_reqs"}),
    ("vllm", "vllm:engine_sleep_state", "gauge", {**VLLM, "sleep_state": "weights_offloaded"}),
    ("vllm", "vllm:request_prefill_time_seconds_count", "histogram", VLLM),
    ("vllm", "vllm:request_decode_time_seconds_sum", "histogram", VLLM),
    ("vllm-old", "vllm:num_requests_waiting", "gauge", {"model_name": MODEL}),
    ("vllm-old", "vllm:gpu_cache_usage_perc", "gauge", {"model_name": MODEL}),
    ("sglang", "sglang:num_queue_reqs", "gauge", RANK),
    ("sglang", "sglang:token_usage", "gauge", RANK),
    ("sglang", "sglang:time_to_first_token_seconds_count", "histogram",
     {"model_name": MODEL, "is_streaming": "true"}),
    ("tgi", "tgi_queue_size", "gauge", {}),
    ("tgi", "tgi_request_count", "counter", {}),
    ("tgi", "tgi_request_duration_sum", "histogram", {}),
    ("triton", "nv_inference_request_duration_us", "counter", OF_TRITON),
    ("triton", "nv_trt_llm_request_metrics", "gauge", {**OF_TRITON, "request_type": "waiting"}),
    ("triton", "nv_trt_llm_kv_cache_block_metrics", "gauge",
     {**OF_TRITON, "kv_cache_block_type": "fraction"}),
    ("mindie", "num_requests_waiting", "gauge", {"model_name": MODEL}),
    ("mindie", "request_received_total", "counter", {"model_name": MODEL}),
)  # fmt: skip
GONE = {  # names that an engine of this version has no more, or never had
    "vllm": {"vllm:gpu_cache_usage_perc", "vllm:time_per_output_token_seconds_count",
             "vllm:num_requests_swapped", "vllm_num_requests_waiting",
             "vllm_request_latency_seconds_count"},
    "vllm-old": {"vllm:kv_cache_usage_perc", "vllm:request_queue_time_seconds_count",
                 "vllm:engine_sleep_state"},
}  # fmt: skip


async def page(stand: Stand) -> dict[str, Metric]:
    """Give the families of its page by the names of their samples, as they are written."""
    _, text = await stand.get("/metrics")
    return {
        _written(sample.name, text): family
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _written(name: str, text: str) -> str:
    """Undo what the parser makes of a counter that does without `_total`."""
    return name if name in text else name.removesuffix("_total")


@pytest.mark.parametrize("engine", {row[0]: None for row in SAMPLES})
async def test_kinds_and_labels_are_those_of_the_original(engine: str) -> None:
    async with emulated(engine) as stand:
        await stand.complete()
        found = await page(stand)

    for _, name, kind, labels in (row for row in SAMPLES if row[0] == engine):
        assert name in found, name
        assert found[name].type == kind, name
        said = found[name].samples
        all_labels = [one.labels for one in said if one.name in (name, f"{name}_total")]
        assert labels in all_labels, (name, all_labels)
    assert not GONE.get(engine, set()) & set(found)


@pytest.mark.parametrize("engine", FACES)
async def test_a_histogram_grows_from_bucket_to_bucket_up_to_its_count(engine: str) -> None:
    async with emulated(engine) as stand:
        for _ in range(3):
            await stand.complete()
        found = await page(stand)

    histograms = {f.name: f for f in found.values() if f.type == "histogram"}
    for name, family in histograms.items():
        buckets = [s.value for s in family.samples if s.name == f"{name}_bucket"]
        counts = [s.value for s in family.samples if s.name == f"{name}_count"]
        assert buckets == sorted(buckets)
        assert [buckets[-1]] == counts


async def test_triton_adds_up_microseconds_and_a_share_is_never_above_one() -> None:
    async with emulated("triton", service_s=0.05) as stand:
        await stand.complete()
        (spent,) = (await page(stand))["nv_inference_request_duration_us"].samples

    assert 50_000 <= spent.value < 60_000_000


@pytest.mark.parametrize(
    ("engine", "status", "said"),
    [
        ("vllm", 503, None),
        ("sglang", 503, None),
        ("tgi", 429, {"error": "Model is overloaded", "error_type": "overloaded"}),
        ("triton", 503, None),
        ("mindie", 503, None),
    ],
)
async def test_an_engine_that_is_full_says_so_in_its_own_way(
    engine: str, status: int, said: dict[str, str] | None
) -> None:
    async with emulated(engine, slots=1, queue_limit=0, faults=Faults(hang=True)) as stand:
        sent = stand.begin()
        await stand.until(running=1)
        url, body = f"{stand.url}/v1/completions", {"prompt": "x", "max_tokens": 1}
        async with stand.session.post(url, json=body) as answer:
            told = await answer.json()
            assert answer.status == status
        for task in sent:
            task.cancel()

    assert said in (None, told)


@pytest.mark.parametrize("engine", ["vllm", "vllm-old", "sglang", "tgi", "mindie", "triton"])
async def test_health_has_no_body_whatever_the_engine(engine: str) -> None:
    path = {"triton": "/v2/health/ready"}.get(engine, "/health")
    async with emulated(engine) as stand:
        assert await stand.get(path) == (200, "")


async def test_mindies_figures_in_json_are_all_text() -> None:
    async with emulated("mindie") as stand:
        await stand.complete()
        said = json.loads((await stand.get("/metrics-json"))[1])

    wanted = {"TTFT", "TBT", "waitingInferRequestNum", "processingInferRequestNum", "remainBlocks"}
    assert wanted <= set(said)
    assert all(isinstance(value, str) for value in said.values())


async def test_sleep_aborts_what_is_under_way_and_its_answers_are_vllms() -> None:
    async with emulated(may_sleep=True, wake_s=0.01, faults=Faults(hang=True)) as stand:
        (sent,) = stand.begin()
        await stand.until(running=1)

        async def post(path: str) -> object:
            async with stand.session.post(f"{stand.url}{path}") as answer:
                return await answer.json()

        assert await post("/sleep?level=1") == {"status": "sleeping", "level": 1}
        await stand.until(running=0)
        assert await stand.get("/is_sleeping") == (200, '{"is_sleeping":true}')
        assert (await stand.get("/health"))[0] == 200  # which says nothing of it
        states = (await page(stand))["vllm:engine_sleep_state"].samples
        assert {s.labels["sleep_state"]: s.value for s in states} == {
            "awake": 0.0, "weights_offloaded": 1.0, "discard_all": 0.0,
        }  # fmt: skip
        assert await post("/wake_up?tags=weights") == {"status": "sleeping", "tags": ["weights"]}
        assert await post("/wake_up") == {"status": "awake", "tags": []}
        sent.cancel()
