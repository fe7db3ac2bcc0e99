"""What an emulated engine is like: whose face it wears, how much it holds, how fast it is.

Nothing heavy is imported here: the command line needs it before it knows what to do.
"""

import ssl
from dataclasses import dataclass
from typing import Literal

FACES = {  # engine: module in `faces`
    "vllm": "vllm",  # 0.9.2 and later, and vLLM-Ascend
    "vllm-old": "vllm_old",  # 0.5
    "sglang": "sglang",
    "tgi": "tgi",
    "triton": "triton",
    "mindie": "mindie",
    "tensorrt-llm": "tensorrt_llm",
    "other": "plain",
}

Law = Literal["fixed", "exponential", "lognormal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpec:
    """One engine, as `controlplane emulate` is told to play it."""

    model: str
    engine: str = "vllm"  # a name in FACES
    slots: int = 8  # requests generated at once
    service_s: float = 0.2  # mean seconds of a generation, once it has its slot
    service_law: Law = "fixed"
    spread: float = 0.5  # standard deviation over mean, under `lognormal`
    token_s: float = 0.0  # and so many more seconds for each token
    load_s: float = 0.0  # from the start until it can generate
    cold_factor: float = 2.5  # its first request takes so many times longer …
    cold_requests: int = 100  # … and after so many it is as fast as it will be
    kv_tokens: int | None = None  # room of the KV cache; 2048 for each slot, where it is left out
    queue_limit: int | None = None  # waiting requests beyond which one is refused
    may_sleep: bool = False
    wake_s: float = 0.3  # from sleep until it generates again
    ranks: int = 1  # devices of one replica: SGLang exports a series for each
    seed: int = 1

    @property
    def kv_room(self) -> int:
        """Give the tokens the KV cache holds."""
        return self.kv_tokens if self.kv_tokens is not None else 2048 * self.slots


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where an emulated engine answers, and how it ends."""

    host: str = "127.0.0.1"
    port: int = 8000
    metrics_port: int | None = None
    tls: ssl.SSLContext | None = None
    abort_on_term: bool = False
