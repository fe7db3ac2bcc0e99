"""What each engine calls what we want to know: one table for each, newest names first.

Where several names stand for one thing the first that is exported counts, so that an engine may be
of any age; where none is, the sample says which were looked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from controlplane.domain.serving import EngineKind

MODEL = "MODEL"  # as a label's value: the name the engine serves the model under


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric, or those of its series whose labels match."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)


def metric(name: str, **labels: str) -> Metric:
    """Write a metric down."""
    return Metric(name=name, labels=labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """One engine's metrics, by what they say; each a choice of names, empty where it has none."""

    queue: tuple[Metric, ...] = ()  # gauge: waiting for a slot
    running: tuple[Metric, ...] = ()  # gauge: being generated
    kv_usage: tuple[Metric, ...] = ()  # gauge, 0 to 1
    received: tuple[Metric, ...] = ()  # counter: arrived, the refused included
    finished: tuple[Metric, ...] = ()  # counter: left the engine, however they ended
    finished_too: tuple[Metric, ...] = ()  # counter, to be added to `finished`
    refused: tuple[Metric, ...] = ()  # counter: turned away for want of capacity
    busy: tuple[Metric, ...] = ()  # counter: time in a slot, of all requests together
    busy_with_wait: tuple[Metric, ...] = ()  # the same with the time before it, for want of `busy`
    waited: tuple[Metric, ...] = ()  # counter: time before it
    served: tuple[Metric, ...] = ()  # counter: how many requests these times are of
    asleep: tuple[Metric, ...] = ()  # gauge: 1 while it sleeps
    wait: tuple[str, ...] = ()  # histogram, seconds
    latency: tuple[str, ...] = ()  # histogram, seconds
    ranks: bool = False  # a series for each device, all alike: the highest counts, not the sum
    unit_s: float = 1.0  # of its times


def _vllm() -> Names:
    e2e, wait = "vllm:e2e_request_latency_seconds", "vllm:request_queue_time_seconds"
    inference = "vllm:request_inference_time_seconds"
    return Names(
        queue=(metric("vllm:num_requests_waiting"),),
        running=(metric("vllm:num_requests_running"),),
        kv_usage=(metric("vllm:kv_cache_usage_perc"), metric("vllm:gpu_cache_usage_perc")),
        finished=(metric("vllm:request_success_total"), metric("vllm:request_success")),
        refused=(metric("vllm:admission_rejections_total"),),
        busy=(metric(f"{inference}_sum"),),
        served=(metric(f"{inference}_count"),),
        asleep=(metric("vllm:engine_sleep_state", sleep_state="awake"),),
        wait=(wait,),
        latency=(e2e,),
    )


def _sglang(prefix: str = "sglang:", older: str = "sglang_") -> Names:
    def both(name: str) -> tuple[Metric, ...]:
        return metric(prefix + name), metric(older + name)

    e2e, wait = "e2e_request_latency_seconds", "queue_time_seconds"
    return Names(
        queue=both("num_queue_reqs"),
        running=both("num_running_reqs"),
        kv_usage=both("token_usage"),
        finished=both("num_requests_total"),
        finished_too=both("num_aborted_requests_total"),
        busy_with_wait=both(f"{e2e}_sum"),
        waited=both(f"{wait}_sum"),
        served=both(f"{e2e}_count"),
        wait=(prefix + wait, older + wait),
        latency=(prefix + e2e, older + e2e),
        ranks=True,
    )


def _tgi() -> Names:
    return Names(
        queue=(metric("tgi_queue_size"),),
        running=(metric("tgi_batch_current_size"),),
        received=(metric("tgi_request_count"),),
        refused=(metric("tgi_request_failure", err="overloaded"),),
        busy=(metric("tgi_request_inference_duration_sum"),),
        served=(metric("tgi_request_inference_duration_count"),),
        wait=("tgi_request_queue_duration",),
        latency=("tgi_request_duration",),
    )


def _triton() -> Names:
    return Names(
        queue=(
            metric("nv_trt_llm_request_metrics", request_type="waiting"),
            metric("nv_inference_pending_request_count", model=MODEL),
        ),
        running=(metric("nv_trt_llm_request_metrics", request_type="scheduled"),),
        kv_usage=(metric("nv_trt_llm_kv_cache_block_metrics", kv_cache_block_type="fraction"),),
        finished=(metric("nv_inference_request_success", model=MODEL),),
        finished_too=(metric("nv_inference_request_failure", model=MODEL),),
        refused=(metric("nv_inference_request_failure", model=MODEL, reason="REJECTED"),),
        busy_with_wait=(metric("nv_inference_request_duration_us", model=MODEL),),
        waited=(metric("nv_inference_queue_duration_us", model=MODEL),),
        served=(metric("nv_inference_request_success", model=MODEL),),
        unit_s=1e-6,
    )


def _mindie() -> Names:
    return Names(
        queue=(metric("num_requests_waiting"),),
        running=(metric("num_requests_running"),),
        kv_usage=(metric("npu_cache_usage_perc"),),
        received=(metric("request_received_total"),),
        latency=("e2e_request_latency_seconds",),
    )


def _tensorrt_llm() -> Names:
    e2e, wait = "trtllm_e2e_request_latency_seconds", "trtllm_request_queue_time_seconds"
    return Names(
        queue=(metric("trtllm_num_requests_waiting"),),
        running=(metric("trtllm_num_requests_running"),),
        kv_usage=(metric("trtllm_kv_cache_utilization"),),
        finished=(metric("trtllm_request_success_total"),),
        busy_with_wait=(metric(f"{e2e}_sum"),),
        waited=(metric(f"{wait}_sum"),),
        served=(metric(f"{e2e}_count"),),
        wait=(wait,),
        latency=(e2e,),
    )


NAMES: Mapping[EngineKind, Names] = {
    "vllm": _vllm(),
    "sglang": _sglang(),
    "tgi": _tgi(),
    "triton": _triton(),
    "mindie": _mindie(),
    "tensorrt-llm": _tensorrt_llm(),
    "other": Names(queue=(metric("model_queue_depth"),)),
}
