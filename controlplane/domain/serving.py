"""How a model's replicas are run and asked: engine, health, warm-up, weights, scheduler."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Interval, Len

from controlplane.domain.policies import STRICT
from controlplane.domain.quantities import PositiveCount, PositiveSeconds, Seconds

Port = Annotated[int, Interval(ge=1, le=65535)]
EngineKind = Literal["vllm", "sglang", "tgi", "triton", "mindie", "tensorrt-llm", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """When a replica counts as ready. No engine's `/health` says that it can generate (law 7)."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    how: Literal["status", "json", "models", "kserve-v2"] = "status"
    """status: 200 is enough · json: 200 and `field` equals `equals` · models: 200 and `/v1/models`
    lists the model · kserve-v2: `/v2/models/NAME/ready` is 200."""
    path: str = "/health"
    """Path that is asked."""
    port: Port | None = None
    """Port that is asked, where it is not that of requests (MindIE: its management port, 1026)."""
    field: str = "model_loaded"
    """Field of the answer under `how: json`."""
    equals: str = "true"
    """The value it must have, as JSON."""
    timeout_s: PositiveSeconds = 2.0
    """A later answer is none. SGLang's /health generates a token and takes over 1 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUpBatch:
    """What a replica must answer before it may be promoted."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str = "/v1/completions"
    """Path the batch is posted to."""
    prompts: tuple[str, ...] = ("Hello",)
    """Prompts, taken in turn; lengths like those of real requests warm best."""
    max_tokens: PositiveCount = 16
    """Tokens to generate for each."""
    body: str | None = None
    """A whole JSON body instead, for engines that do not speak the completions API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Where the weights lie, so that a start reads them from near by."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    kind: Literal["claim", "host-path", "local-model-cache"]
    """claim: a PersistentVolumeClaim many may read · host-path: a folder of every node ·
    local-model-cache: KServe's, whose claim is named here too."""
    name: Annotated[str, Len(1, 253)]
    """The claim's name, or the folder."""
    mount_path: Annotated[str, Len(1, 253)] = "/models"
    """Where the container sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How a model's replicas are run and asked. The images stand with the variants."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    engine: EngineKind = "vllm"
    """Whose metrics and calls it speaks."""
    served_name: str | None = None
    """The name the engine knows the model by; the catalogue's, where it is left out."""
    port: Port = 8000
    """Port requests go to."""
    metrics_port: Port | None = None
    """Port of the metrics, where it is another (Triton: 8002)."""
    metrics_path: str = "/metrics"
    """Path of the metrics."""
    tls: bool = False
    """The engine speaks HTTPS (MindIE does by default)."""
    health: Health = Health()
    """When a replica counts as ready."""
    warm_up: WarmUpBatch = WarmUpBatch()
    """What it must answer before it may be promoted."""
    may_sleep: bool = False
    """The engine was started so that it can sleep (vLLM: --enable-sleep-mode and its dev mode)."""
    longest_request_s: PositiveSeconds = 120.0
    """A stream of this length must survive its replica's end."""
    pre_stop_s: Seconds = 5.0
    """Pause before the engine is told to stop, so that balancers have let go of it."""
    weights: Weights | None = None
    """Where the weights lie."""
    pre_pull: Literal["daemon-set", "image-volume", "none"] = "daemon-set"
    """How images come to the nodes before they are needed; a 15 GB pull must not meet a burst."""
    spread: Literal["soft", "strict"] = "soft"
    """Over zones: soft leaves nothing Pending where a zone is short, strict does."""
    scheduled_by: Literal["kubernetes", "volcano", "kueue", "kuberay"] = "kubernetes"
    """Who places the pods; replicas of several devices often need a gang scheduler."""
    queue: str | None = None
    """The scheduler's queue."""
    cpu: str | None = None
    """CPU request of a replica, as Kubernetes writes it."""
    memory: str | None = None
    """Memory request and limit of a replica, as Kubernetes writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """How a variant's container is started, beyond its image."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    command: tuple[str, ...] = ()
    """Command instead of the image's own."""
    args: tuple[str, ...] = ()
    """Arguments."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment; secrets belong into `secret_env`."""
    secret_env: Mapping[str, str] = field(default_factory=dict)
    """Variable: SECRET/KEY of a Kubernetes Secret in the same namespace."""
