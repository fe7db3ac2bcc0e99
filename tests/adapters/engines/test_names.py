"""Each engine's own names: what it exports is found, what it does not is told (S8)."""

import pytest

from controlplane.adapters.engines.names import NAMES
from controlplane.adapters.engines.page import read
from controlplane.domain.samples import Absence, NoData, Zero
from controlplane.emulation.faces import face
from controlplane.emulation.faults import Faults
from controlplane.emulation.spec import FACES
from tests.adapters.engines.watching import an_engine, load_when, watched
from tests.emulation.stand import MODEL, emulated

# What the engines' own sources and manuals say they export, by what it tells.
EXPORTED = {
    "vllm": {
        "vllm:num_requests_waiting", "vllm:num_requests_running", "vllm:kv_cache_usage_perc",
        "vllm:request_success_total", "vllm:admission_rejections_total",
        "vllm:request_queue_time_seconds_bucket", "vllm:e2e_request_latency_seconds_bucket",
        "vllm:request_inference_time_seconds_sum", "vllm:engine_sleep_state",
        "vllm:inter_token_latency_seconds_bucket", "vllm:time_to_first_token_seconds_bucket",
        "vllm:num_requests_waiting_by_reason", "vllm:prompt_tokens_total",
        "vllm:generation_tokens_total", "vllm:num_preemptions_total",
    },
    "vllm-old": {
        "vllm:num_requests_waiting", "vllm:num_requests_running", "vllm:num_requests_swapped",
        "vllm:gpu_cache_usage_perc", "vllm:e2e_request_latency_seconds_bucket",
        "vllm:time_per_output_token_seconds_bucket",
    },
    "sglang": {
        "sglang:num_queue_reqs", "sglang:num_running_reqs", "sglang:token_usage",
        "sglang:num_used_tokens", "sglang:gen_throughput", "sglang:queue_time_seconds_bucket",
        "sglang:e2e_request_latency_seconds_bucket", "sglang:time_to_first_token_seconds_bucket",
    },
    "tgi": {
        "tgi_queue_size", "tgi_batch_current_size", "tgi_request_duration_bucket",
        "tgi_request_queue_duration_bucket", "tgi_request_count",
        "tgi_request_mean_time_per_token_duration_bucket",
    },
    "triton": {
        "nv_inference_request_success", "nv_inference_request_duration_us",
        "nv_inference_queue_duration_us", "nv_inference_pending_request_count",
        "nv_trt_llm_request_metrics", "nv_trt_llm_kv_cache_block_metrics",
    },
    "mindie": {
        "num_requests_running", "num_requests_waiting", "num_requests_swapped",
        "num_preemptions_total", "request_received_total", "request_success_total",
        "request_failed_total",
    },
    "tensorrt-llm": {
        "trtllm_num_requests_waiting", "trtllm_num_requests_running",
        "trtllm_kv_cache_utilization", "trtllm_e2e_request_latency_seconds_bucket",
    },
    "other": {"model_queue_depth"},
}  # fmt: skip
FIRST_BOUND = {
    ("vllm", "e2e"): 0.3,
    ("vllm", "ttft"): 0.001,
    ("vllm-old", "e2e"): 1.0,
    ("sglang", "e2e"): 0.1,
}


@pytest.mark.parametrize("engine", FACES)
async def test_an_emulated_engine_exports_what_the_real_one_does(engine: str) -> None:
    async with emulated(engine) as stand:
        await stand.complete()
        _, text = await stand.get("/metrics")

    names = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line[:1] != "#"}
    assert EXPORTED[engine] <= names


@pytest.mark.parametrize(("engine", "histogram"), FIRST_BOUND)
def test_the_buckets_begin_where_the_real_ones_do(engine: str, histogram: str) -> None:
    assert face(engine).buckets[histogram][0] == FIRST_BOUND[engine, histogram]


@pytest.mark.parametrize("engine", [name for name in FACES if name != "other"])
async def test_queue_and_running_are_read_from_every_engine(engine: str) -> None:
    async with emulated(engine, slots=2, faults=Faults(hang=True)) as stand:
        sent = stand.begin(5)
        await stand.until(running=2, waiting=3)
        async with watched([an_engine(stand)]) as fleet:
            load, of_class = await load_when(fleet, lambda _, c: c.queue.x == 3.0)
            assert load.in_flight.x == 2.0
            assert of_class.queue.x == 3.0
        for task in sent:
            task.cancel()


@pytest.mark.parametrize("engine", ["vllm", "vllm-old", "sglang", "triton", "mindie"])
async def test_s8_the_use_of_the_cache_is_read_under_its_new_and_its_old_name(engine: str) -> None:
    async with emulated(engine, slots=1, kv_tokens=100, faults=Faults(hang=True)) as stand:
        sent = stand.begin()
        await stand.until(running=1)
        async with watched([an_engine(stand)]) as fleet:
            # 1 token of prompt, 4 generated, room for 100
            await load_when(fleet, lambda load, _: load.kv_usage.x == 0.05)
        for task in sent:
            task.cancel()


async def test_s8_with_neither_name_there_is_no_data_and_both_names_are_told() -> None:
    async with (
        emulated("vllm", faults=Faults(hide="cache_usage")) as stand,
        watched([an_engine(stand)]) as fleet,
    ):
        load, of_class = await load_when(fleet, lambda _, c: c.queue.x is not None)

    both = "vllm:kv_cache_usage_perc, vllm:gpu_cache_usage_perc"
    assert load.kv_usage == NoData(Absence.NOT_EXPORTED, both)
    assert isinstance(of_class.queue, Zero)


async def test_an_engine_without_a_distribution_says_so_and_gives_no_percentile() -> None:
    async with emulated("triton") as stand, watched([an_engine(stand)]) as fleet:
        _, of_class = await load_when(fleet, lambda _, c: c.queue.x is not None)

    assert of_class.wait_p99 == NoData(Absence.NOT_EXPORTED, "triton has no histogram of it")


async def test_the_ranks_of_one_replica_are_one_figure_not_their_sum() -> None:
    async with emulated("sglang", slots=1, ranks=4, faults=Faults(hang=True)) as stand:
        sent = stand.begin(3)
        await stand.until(running=1, waiting=2)
        async with watched([an_engine(stand)]) as fleet:
            load, of_class = await load_when(fleet, lambda _, c: c.queue.x is not None)
        for task in sent:
            task.cancel()

    assert (of_class.queue.x, load.in_flight.x) == (2.0, 1.0)


def test_data_parallel_engines_of_one_replica_add_up_and_a_ratio_is_their_mean() -> None:
    page = read(
        b"# TYPE vllm:num_requests_waiting gauge\n"
        b'vllm:num_requests_waiting{engine="0",model_name="m"} 3.0\n'
        b'vllm:num_requests_waiting{engine="1",model_name="m"} 4.0\n'
        b'vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"} 9.0\n'
        b'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5\n'
        b'vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.7',
        NAMES["vllm"],
        "m",
    )

    assert page.figures["queue"] == 7.0
    assert page.figures["kv_usage"] == pytest.approx(0.6)


def test_only_the_series_of_the_model_count_where_a_server_has_several() -> None:
    page = read(
        b'nv_inference_request_success{model="other",version="1"} 100\n'
        b'nv_inference_request_success{model="chat",version="1"} 7\n'
        b'nv_inference_request_failure{model="chat",reason="REJECTED",version="1"} 2\n'
        b'nv_inference_request_failure{model="chat",reason="BACKEND",version="1"} 1\n',
        NAMES["triton"],
        MODEL,
    )

    assert page.figures == {"finished": 7.0, "finished_too": 3.0, "refused": 2.0, "served": 7.0}


def test_a_share_above_one_is_in_another_unit_and_no_number() -> None:
    page = read(b'npu_cache_usage_perc{model_name="m"} 30\n', NAMES["mindie"], "m")

    assert page.bad == {"kv_usage": "30.0"}


@pytest.mark.parametrize(
    "line",
    [
        b"tgi_queue_size 5",
        b"tgi_queue_size{} 5 1700000000000",
        b'tgi_queue_size{path="a,b=\\"c\\" }"} 5.0',
        b"tgi_queue_size  5e0",
    ],
)  # fmt: skip
def test_a_line_is_read_however_it_is_written(line: bytes) -> None:
    assert read(b"x 1\n" + line + b"\ny 2", NAMES["tgi"], "m").figures == {"queue": 5.0}


@pytest.mark.parametrize("value", [b"NaN", b"+Inf", b"-Inf", b"-1", b"", b"five"])
def test_s4_what_is_no_number_is_bad(value: bytes) -> None:
    page = read(b"tgi_queue_size " + value + b"\n", NAMES["tgi"], "m")

    assert not page.figures
    assert set(page.bad) == {"queue"}
