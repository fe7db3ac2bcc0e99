"""The catalogue: which node classes there are, which models, and what each model may run on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Len, Predicate

from controlplane.domain.entrances import Entrance, GatewayPolicy
from controlplane.domain.handover import AlertsPolicy, IstioHandover, KedaHandover
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
from controlplane.domain.serving import Container, Serving
from controlplane.domain.sources import Queries, SignalsPolicy
from controlplane.domain.versions import is_version

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")

_PART = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_OBJECT = re.compile(rf"(?=.{{1,253}}\Z){_PART}(?:\.{_PART})*")


def is_object(written: str) -> bool:
    """Say whether an object of a cluster can have that name (RFC 1123)."""
    return _OBJECT.fullmatch(written) is not None


def is_name(written: str) -> bool:
    """Say whether a name can be a Kubernetes label's value; models and classes become labels."""
    return _NAME.fullmatch(written) is not None


def is_pattern(written: str) -> bool:
    """Say whether the text is a regular expression."""
    try:
        re.compile(written)
    except re.error:
        return False
    return True


def workload(model: str, node_class: str) -> str:
    """Give the name of a variant's Deployment; a cluster's names have no capitals."""
    return f"{model}-{node_class}".lower().replace("_", "-")


ModelKey = Annotated[ModelName, Predicate(is_name)]
ClassKey = Annotated[ClassName, Predicate(is_name)]
ZoneKey = Annotated[Zone, Predicate(is_name)]
TeamKey = Annotated[Team, Predicate(is_name)]
PatternText = Annotated[str, Predicate(is_pattern)]
VersionText = Annotated[str, Predicate(is_version)]
Text = Annotated[str, Len(1, 253)]
RuntimeKind = Literal["cuda", "cann", "rocm", "neuron", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """An accelerator runtime and the version something was built for, or supports up to."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    kind: RuntimeKind
    """Which family of runtimes: cuda on NVIDIA, cann on Ascend, rocm on AMD …"""
    version: VersionText
    """The version, in quotes: "12.8", "8.5.0", "8.3.RC2" (RC2 comes before the final 8.3)."""


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
    labels: Mapping[str, PatternText] = field(default_factory=dict)
    """Node labels (value = regular expression for the whole value) by which nodes of this class are
    recognised; all must match."""
    taints: tuple[Text, ...] = ()
    """Keys of further taints its replicas tolerate; those under which the vendor's nodes are
    usually tainted always are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Nodes of one class in one zone. The embedded cluster is built from these."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    node_class: ClassKey
    """The class of every node here."""
    zone: ZoneKey
    """Where they stand; a zone may fail as a whole."""
    nodes: Count
    """How many nodes there are."""
    devices_per_node: PositiveCount
    """How many devices each node has; a replica never spans nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KvCache:
    """What one replica's KV cache needs: 2 x layers x kv_heads x head_dim x bytes per token."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    layers: PositiveCount
    """Layers of the model."""
    kv_heads: PositiveCount
    """Key-value heads of a layer (fewer than attention heads under grouped-query attention)."""
    head_dim: PositiveCount
    """Size of one head."""
    context_tokens: PositiveCount
    """Tokens of one sequence that are planned for."""
    sequences: PositiveCount
    """Sequences held at once."""
    bytes_per_value: PositiveCount = 2
    """2 for 16-bit values, 1 for an 8-bit KV cache."""

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
    """Size of the weights, as loaded."""
    kv: KvCache | None = None
    """What the KV cache needs; leave it out for models without one."""
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
    """The container image, with its tag."""
    image_gib: Gib = 10.0
    """Size of the image; pulling it is what a cold node waits for."""
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
    container: Container = field(default_factory=Container)
    """How it is started, beyond its image."""
    deployment: Annotated[str, Predicate(is_object)] | None = None
    """An existing Deployment that is this variant's, by name; otherwise one is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model: who owns it, what it needs, where it may run and what it promises."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    team: TeamKey
    """Who pays for it."""
    kind: Literal["chat", "image", "speech", "vision", "embedding", "other"] = "other"
    """What it does; shown to people."""
    importance: Importance = 5
    """1 is served first when several models want the last device."""
    need: Need
    """The memory one replica needs."""
    tensor_parallel: Annotated[tuple[PositiveCount, ...], Len(1)] = (1,)
    """Allowed numbers of devices for one replica."""
    variants: Annotated[Mapping[ClassKey, Variant], Len(1)]
    """Where it may run; a class not named here is not considered."""
    profile: str | None = None
    """Named policy set this model starts from; without one, the fleet's."""
    policy: ModelPolicy = field(default_factory=ModelPolicy)
    """How it is scaled, kept ready and admitted: what is written here goes over the profile's,
    field by field."""
    serving: Serving = field(default_factory=Serving)
    """How its replicas are run and asked."""
    entrance: Entrance = field(default_factory=Entrance)
    """By which names requests find it."""
    queries: Queries = field(default_factory=dict)
    """Own PromQL for single signals, each giving one series: {queue: "sum(my_backlog)"}."""
    mode: Literal["act", "advise"] | None = None
    """advise: decide and show, write nothing. Without one, as the daemon runs."""
    budget_per_day: Price | None = None
    """What the team wants to spend on it a day; shown against the costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """An exact pair of model and runtime version that was tested, or must not be used."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    model: ModelKey
    """The model this is about."""
    runtime: Runtime
    """The runtime its image was built for, exactly this version."""
    verdict: Literal["tested", "denied"]
    """tested: shown as a plus · denied: never placed."""
    reason: str = ""
    """Why; shown to people beside the verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The fleet file, whole. `settings` reads one and refuses what does not hold together."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    currency: Annotated[str, Len(3, 3)] = "USD"
    """ISO 4217 code of every price."""
    node_classes: Annotated[Mapping[ClassKey, NodeClass], Len(1)]
    """The kinds of accelerator, by name."""
    pools: tuple[Pool, ...] = ()
    """Which nodes there are. The embedded cluster is built from these."""
    models: Annotated[Mapping[ModelKey, Model], Len(1)]
    """The models, by name."""
    pairs: tuple[Pair, ...] = ()
    """Exact pairs of model and runtime that were tested, or must not be used."""
    profile: str | None = None
    """Named policy set every model starts from: controlplane, saving, service, seed-000 …"""
    gateway: GatewayPolicy = field(default_factory=GatewayPolicy)
    """Keys, sizes and patience of the gateway, for all models alike."""
    signals: SignalsPolicy = field(default_factory=SignalsPolicy)
    """Where the signals come from."""
    keda: KedaHandover = field(default_factory=KedaHandover)
    """What ScaledObjects say, where KEDA writes the number of replicas."""
    istio: IstioHandover = field(default_factory=IstioHandover)
    """What DestinationRules are rendered for."""
    alerts: AlertsPolicy = field(default_factory=AlertsPolicy)
    """When and where people are told."""
    cross_zone_per_gib: Price = Decimal("0.01")
    """Price of one GiB that crosses zones."""
    egress_gib_per_request: Annotated[float, Ge(0)] = 0.0
    """Data a request moves, prompt and answer; what crosses zones is paid for."""
