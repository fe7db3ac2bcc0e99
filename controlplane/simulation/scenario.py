"""A scenario: hardware, models, their load and limits, every figure a field of one YAML file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from annotated_types import Gt, Le, Len

from controlplane.domain.catalogue import NodeClass, Pool
from controlplane.domain.policies import STRICT, AdmissionPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import (
    ClassName,
    Count,
    Gib,
    Importance,
    ModelName,
    PositiveCount,
    PositiveSeconds,
    Seconds,
)
from controlplane.simulation.streams import Stream

Streams = Annotated[Mapping[str, Stream], Len(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioModel:
    """One model under load: its engine, its bounds, its promises, its streams."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    node_class: ClassName
    devices: PositiveCount = 1
    """Devices one replica holds."""
    need_gib: Gib | None = None
    """Memory one replica needs; without it, nine tenths of what its devices may plan with."""
    slots: PositiveCount
    """Requests served at once by one replica."""
    service_s: PositiveSeconds
    """Mean service time as it was once measured; what a policy believes until it measures."""
    load_s: Seconds
    """From a replica's creation until it is healthy, all included."""
    promote_s: Seconds
    """From a warm replica's promotion until it serves; a cold one needs it on top of `load_s`."""
    min: Count
    """Never fewer replicas in service."""
    max: PositiveCount
    """Never more replicas in service."""
    initial: Count
    """Replicas in service at the start."""
    importance: Importance = 5
    """1 is served first when several models want the last device."""
    in_time_s: Mapping[Priority, PositiveSeconds]
    """A request is in time when it got its slot within so long; by class."""
    queue_bounds: Mapping[Priority, Count] = field(
        default_factory=lambda: dict(AdmissionPolicy().queue_bounds)
    )
    """Waiting requests per class; the next one is refused."""
    prompt_limit: PositiveCount | None = None
    """Prompts of more tokens are refused; without it they may kill an engine."""
    streams: Streams

    def __post_init__(self) -> None:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        if not self.min <= self.initial <= self.max:
            raise ValueError(f"initial {self.initial} is not within {self.min}..{self.max}")
        for name, stream in self.streams.items():
            if stream.priority not in self.in_time_s:
                raise ValueError(
                    f"stream {name} is of class {stream.priority}, which in_time_s lacks"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A load test, whole."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    about: Annotated[str, Len(1, 500)]
    """One line for people."""
    duration_s: Annotated[float, Gt(0), Le(31 * 86_400)]
    """How long it lasts, a month at most."""
    node_classes: Annotated[Mapping[ClassName, NodeClass], Len(1)]
    pools: Annotated[tuple[Pool, ...], Len(1)]
    """Where there are devices; enough for every model's maximum and its spares, or they compete."""
    models: Annotated[Mapping[ModelName, ScenarioModel], Len(1)]
    image_cached: bool = True
    """Nodes have the images already; otherwise the first replica on each node pulls 10 GiB."""
    warm_up_request_s: Seconds | None = 0.0
    """Time one request of a warm-up batch takes on a warmed engine; 0: `load_s` includes it."""

    def __post_init__(self) -> None:
        for index, pool in enumerate(self.pools):
            if pool.node_class not in self.node_classes:
                raise ValueError(
                    f"pools[{index}] is of class {pool.node_class}, which is not known"
                )
        for name, model in self.models.items():
            if model.node_class not in self.node_classes:
                raise ValueError(
                    f"models.{name} is of class {model.node_class}, which is not known"
                )
