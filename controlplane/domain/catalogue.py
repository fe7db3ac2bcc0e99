"""The catalogue: which node classes there are, which models, and what each model may run on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Len, Predicate

from controlplane.domain.policies import STRICT, ModelPolicy
from controlplane.domain.quantities import (
    ClassName,
    Count,
    Gib,
    Importance,
    ModelName,
    PositiveCount,
    PositiveSeconds,
    Price,
    Ratio,
    Team,
    Zone,
)
from controlplane.domain.versions import is_version

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


def is_name(written: str) -> bool:
    """Say whether a name can be a Kubernetes label's value; models and classes become labels."""
    return _NAME.fullmatch(written) is not None


ModelKey = Annotated[ModelName, Predicate(is_name)]
ClassKey = Annotated[ClassName, Predicate(is_name)]
ZoneKey = Annotated[Zone, Predicate(is_name)]
TeamKey = Annotated[Team, Predicate(is_name)]
VersionText = Annotated[str, Predicate(is_version)]
Text = Annotated[str, Len(1, 253)]
RuntimeKind = Literal["cuda", "cann", "rocm", "neuron", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """An accelerator runtime and the version something was built for, or supports up to."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    kind: RuntimeKind
    version: VersionText


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClass:
    """A kind of accelerator: what it holds, what it runs, what it costs."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    vendor: Literal["nvidia", "ascend", "amd", "cambricon", "other"]
    """Who makes the card; decides resource names and tolerations."""
    resource: Text
    """The Kubernetes resource one device counts as, e.g. nvidia.com/gpu."""
    vram_gib: Gib
    """Memory of one device."""
    usable: Ratio = 0.9
    """Share of the memory a model may plan with."""
    price_per_hour: Price
    """Price of one device and hour."""
    runtime: Runtime
    """The runtime and the highest version this class supports."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Node labels (value = regular expression) by which nodes of this class are recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Nodes of one class in one zone. The embedded cluster is built from these."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    node_class: ClassKey
    zone: ZoneKey
    nodes: Count
    devices_per_node: PositiveCount


@dataclass(frozen=True, slots=True, kw_only=True)
class KvCache:
    """What one replica's KV cache needs: 2 x layers x kv_heads x head_dim x bytes per token."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    layers: PositiveCount
    kv_heads: PositiveCount
    head_dim: PositiveCount
    context_tokens: PositiveCount
    """Tokens of one sequence that are planned for."""
    sequences: PositiveCount
    """Sequences held at once."""
    bytes_per_value: PositiveCount = 2

    @property
    def gib(self) -> float:
        """Memory for all sequences, in GiB (keys and values, hence the 2)."""
        per_token = 2 * self.layers * self.kv_heads * self.head_dim * self.bytes_per_value
        return per_token * self.context_tokens * self.sequences / 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The memory a replica needs over all its devices: declared, or computed from its parts."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    vram_gib: Gib | None = None
    """Declared figure; stands for everything when given."""
    weights_gib: Gib | None = None
    kv: KvCache | None = None
    overhead_gib: Annotated[float, Ge(0)] = 0.0
    """Activations, graphs, the runtime itself."""

    @property
    def gib(self) -> float:
        """Memory needed by one replica, in GiB; settings refuse a need that has neither form."""
        if self.vram_gib is not None:
            return self.vram_gib
        return (self.weights_gib or 0.0) + (self.kv.gib if self.kv else 0.0) + self.overhead_gib


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A model on a node class: one Deployment."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    image: Text
    image_gib: Gib = 10.0
    runtime: Runtime
    """The runtime and the version the image was built for."""
    slots: PositiveCount
    """Requests served at once by one replica."""
    service_s: PositiveSeconds
    """Mean service time of a request, measured on this class; the prior until we measure it."""
    load_s: PositiveSeconds = 60.0
    """Measured time from container start to the first good answer."""
    promote_s: Annotated[float, Ge(0)] = 1.0
    """Time from the label flip of a warm replica until it serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model: who owns it, what it needs, where it may run and what it promises."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    team: TeamKey
    kind: Literal["chat", "image", "speech", "vision", "embedding", "other"] = "other"
    importance: Importance = 5
    """1 is served first when several models want the last device."""
    need: Need
    tensor_parallel: Annotated[tuple[PositiveCount, ...], Len(1)] = (1,)
    """Allowed numbers of devices for one replica."""
    variants: Annotated[Mapping[ClassKey, Variant], Len(1)]
    """Where it may run; a class not named here is not considered."""
    profile: str | None = None
    """Named policy set this model starts from; without one, the fleet's."""
    policy: ModelPolicy = field(default_factory=ModelPolicy)
    budget_per_day: Price | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """An exact pair of model and runtime version that was tested, or must not be used."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    model: ModelKey
    runtime: Runtime
    verdict: Literal["tested", "denied"]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The fleet file, whole. `settings.load` makes one and refuses what does not hold together."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    currency: Annotated[str, Len(3, 3)] = "USD"
    """ISO 4217 code of every price."""
    node_classes: Annotated[Mapping[ClassKey, NodeClass], Len(1)]
    pools: tuple[Pool, ...] = ()
    models: Annotated[Mapping[ModelKey, Model], Len(1)]
    pairs: tuple[Pair, ...] = ()
    profile: str | None = None
    """Named policy set every model starts from: controlplane, saving, service, seed-000 …"""
    cross_zone_per_gib: Price = Decimal("0.01")
    """Price of one GiB that crosses zones."""
    egress_gib_per_request: Annotated[float, Ge(0)] = 0.0
