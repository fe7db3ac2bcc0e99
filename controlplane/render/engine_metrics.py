"""What engines call things: the names of their metrics, those of older releases included.

Where several names stand for one thing, the first that is there counts: vLLM renamed its KV gauge
in 0.9.2 and hid the old one. SGLang exports one series for each rank: those that share a request
say the same, so the largest counts, and data-parallel ones have each a queue of their own, which
add up. A share of a cache is never added up. Names carry no `_total`, `_bucket`, `_count` or
`_sum`: those belong to the kind of the metric.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from controlplane.domain.serving import EngineKind

Fold = Literal["sum", "max"]
PARALLEL = "dp_rank"  # the label that tells data-parallel ranks apart


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineMetrics:
    """The names of one engine; an empty tuple or None where it exports no such thing."""

    waiting: tuple[str, ...] = ()  # selectors of gauges
    running: tuple[str, ...] = ()
    kv_usage: tuple[str, ...] = ()  # 0..1
    refused: str | None = None  # counter, refused for want of room
    latency: str | None = None  # histogram, seconds, arrival to last byte
    queue_time: str | None = None  # histogram, seconds, waiting for a slot
    inference: str | None = None  # histogram, seconds, holding a slot
    ended: str | None = None  # counter of all that ended, where there is no latency histogram
    fold: Fold = "sum"
    least_bucket_s: float = 0.0  # a percentile below the first bucket cannot be told
    preallocates: bool = True  # device memory is full at zero load


def folded(engine: EngineMetrics, by: str, expression: str, *, share: bool = False) -> str:
    """Give one series of each replica, whose labels are `by`."""
    if share:
        return f"max by({by})({expression})"
    if engine.fold == "max":
        return f"sum by({by})(max by({by},{PARALLEL})({expression}))"
    return f"sum by({by})({expression})"


_VLLM = EngineMetrics(
    waiting=("vllm:num_requests_waiting",),
    running=("vllm:num_requests_running",),
    kv_usage=("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    refused="vllm:admission_rejections_total",
    latency="vllm:e2e_request_latency_seconds",
    queue_time="vllm:request_queue_time_seconds",
    inference="vllm:request_inference_time_seconds",
    least_bucket_s=0.3,
)
_SGLANG = EngineMetrics(
    waiting=("sglang:num_queue_reqs",),
    running=("sglang:num_running_reqs",),
    kv_usage=("sglang:token_usage",),
    latency="sglang:e2e_request_latency_seconds",
    queue_time="sglang:queue_time_seconds",
    fold="max",
)
_TGI = EngineMetrics(
    waiting=("tgi_queue_size",),
    running=("tgi_batch_current_size",),
    refused='tgi_request_failure{err="overloaded"}',
    latency="tgi_request_duration",
    queue_time="tgi_request_queue_duration",
    inference="tgi_request_inference_duration",
)
_TRITON = EngineMetrics(
    waiting=(
        'nv_trt_llm_request_metrics{request_type="waiting"}',
        "nv_inference_pending_request_count",
    ),
    running=('nv_trt_llm_request_metrics{request_type="scheduled"}',),
    kv_usage=('nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction"}',),
    ended="nv_inference_request_success",
    preallocates=False,
)
_MINDIE = EngineMetrics(
    waiting=("num_requests_waiting",),
    running=("num_requests_running",),
    kv_usage=("npu_cache_usage_perc",),
    ended="request_success_total",
)
_TENSORRT_LLM = EngineMetrics(
    waiting=("trtllm_num_requests_waiting",),
    running=("trtllm_num_requests_running",),
    kv_usage=("trtllm_kv_cache_utilization",),
    latency="trtllm_e2e_request_latency_seconds",
    queue_time="trtllm_request_queue_time_seconds",
)

ENGINES: Mapping[EngineKind, EngineMetrics] = {
    "vllm": _VLLM,
    "sglang": _SGLANG,
    "tgi": _TGI,
    "triton": _TRITON,
    "mindie": _MINDIE,
    "tensorrt-llm": _TENSORRT_LLM,
    "other": EngineMetrics(preallocates=False),
}

# Devices, by exporter. DCGM counts MiB and percent, npu-exporter MB and percent; with MIG, DCGM has
# no utilisation but the share of time in which the graphics engine was active.
BUSY: tuple[tuple[str, float], ...] = (
    ("DCGM_FI_DEV_GPU_UTIL", 100.0),
    ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 1.0),
    ("npu_chip_info_utilization", 100.0),
)
MEMORY: tuple[tuple[str, str], ...] = (  # used, and the expression of all
    ("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE"),
    ("npu_chip_info_hbm_used_memory", "npu_chip_info_hbm_total_memory"),
)
HEALTHY = "npu_chip_info_health_status"  # 1 healthy, 0 not, -1 unknown
XID = "DCGM_FI_DEV_XID_ERRORS"  # 0 while all is well, else the number of the last error
