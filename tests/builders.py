"""One line per object, only what matters in a test."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from controlplane.decide.scaling.inputs import (
    Held,
    ModelMemory,
    Room,
    ScaleInput,
    Span,
    VariantFacts,
)
from controlplane.domain.catalogue import (
    Catalogue,
    Model,
    Need,
    NodeClass,
    Pool,
    Runtime,
    Variant,
)
from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.policies import ModelPolicy, Objective, ScalingPolicy
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import ClassName, ModelName, NodeName, ReplicaName, Team, Zone
from controlplane.domain.replicas import Lane, Phase, Replica, Stage
from controlplane.domain.samples import IDLE, Sample, reading

A100 = ClassName("A100-80G")
T4 = ClassName("T4")
NPU = ClassName("910B3")
CHAT = ModelName("chat")
NOW = 10_000.0
CUDA = Runtime(kind="cuda", version="12.8")

WAITS = {
    Priority.HIGH: Objective(wait_p99_s=0.1),
    Priority.MEDIUM: Objective(wait_p99_s=0.8),
    Priority.LOW: Objective(wait_p99_s=10.0),
}


def a_sample(x: float | Sample | None, at: float = NOW) -> Sample:
    """A number becomes a known sample, None an idle percentile, a sample stays what it is."""
    if x is None:
        return IDLE
    return reading(x, at) if isinstance(x, int | float) else x


def a_class_load(
    arrivals: float | Sample = 0.0,
    queue: float | Sample = 0.0,
    *,
    steady: float | Sample | None = None,
    turned_away: float | Sample = 0.0,
    wait: float | Sample | None = None,
    latency: float | Sample | None = None,
    at: float = NOW,
) -> ClassLoad:
    return ClassLoad(
        queue=a_sample(queue, at),
        arrivals=a_sample(arrivals, at),
        arrivals_steady=a_sample(arrivals if steady is None else steady, at),
        turned_away=a_sample(turned_away, at),
        wait_p99=a_sample(wait, at),
        latency_p99=a_sample(latency, at),
    )


def a_load(
    high: ClassLoad | None = None,
    medium: ClassLoad | None = None,
    low: ClassLoad | None = None,
    *,
    at: float = NOW,
    service_s: float | Sample = 0.125,
    kv: float | Sample | None = None,
    utilisation: float | Sample | None = None,
    model: ModelName = CHAT,
) -> ModelLoad:
    classes = dict(zip(PRIORITIES, (high, medium, low), strict=True))
    return ModelLoad(
        model=model,
        at=at,
        classes={p: c or a_class_load(at=at) for p, c in classes.items()},
        service_s=a_sample(service_s, at),
        kv_usage=a_sample(kv, at),
        utilisation=a_sample(utilisation, at),
    )


def facts(
    name: ClassName = A100,
    *,
    slots: int = 14,
    devices: int = 1,
    service_s: float = 0.125,
    load_s: float = 90.0,
    hourly: float = 3.0,
) -> VariantFacts:
    return VariantFacts(
        node_class=name,
        devices=devices,
        slots=slots,
        service_s=service_s,
        load_s=load_s,
        hourly=hourly,
    )


def a_policy(**scaling: Any) -> ModelPolicy:
    """A policy with the usual objectives; keyword arguments are fields of ScalingPolicy."""
    return ModelPolicy(objectives=WAITS, scaling=ScalingPolicy(**{"min": 1, "max": 8, **scaling}))


def an_input(
    load: ModelLoad | None = None,
    *,
    target: int | None = 4,
    serving: int | None = None,
    loading: int = 0,
    promotable: int = 0,
    policy: ModelPolicy | None = None,
    room: Room | None = None,
    calm_for: float = 1_000.0,
    **more: Any,
) -> ScaleInput:
    """A model on A100 whose target has been in force, and known to be needed, for a long time."""
    load = load or a_load()
    serving = (target or 0) - loading if serving is None else serving
    memory = ModelMemory(
        target=target,
        split={A100: target or 0},
        since=load.at - calm_for,
        wishes=(Span(load.at - calm_for, load.at - 5.0, target),) if target is not None else (),
    )
    given: dict[str, Any] = {
        "at": load.at,
        "model": CHAT,
        "importance": 5,
        "policy": policy or a_policy(),
        "variants": (facts(),),
        "load": load,
        "held": {A100: Held(serving=serving, loading=loading, promotable=promotable)},
        "memory": memory,
        "room": room or Room(grants={A100: 100}),
    }
    return ScaleInput(**{**given, **more})


def a_node_class(
    vram: float = 80.0, price: str = "3.00", kind: str = "cuda", version: str = "12.8"
) -> NodeClass:
    return NodeClass(
        vendor="nvidia" if kind == "cuda" else "ascend",
        resource="nvidia.com/gpu" if kind == "cuda" else "huawei.com/Ascend910",
        vram_gib=vram,
        price_per_hour=Decimal(price),
        runtime=Runtime(kind=kind, version=version),  # type: ignore[arg-type]  # a test's choice
    )


def a_variant(slots: int = 14, service_s: float = 0.125, load_s: float = 90.0) -> Variant:
    return Variant(
        image="registry.example/model:1",
        runtime=CUDA,
        slots=slots,
        service_s=service_s,
        load_s=load_s,
    )


def a_model(
    gib: float = 40.0,
    *,
    on: Mapping[ClassName, Variant] | None = None,
    importance: int = 5,
    policy: ModelPolicy | None = None,
) -> Model:
    return Model(
        team=Team("text"),
        importance=importance,
        need=Need(vram_gib=gib),
        variants=on or {A100: a_variant()},
        policy=policy or a_policy(),
    )


def a_catalogue(
    models: Mapping[ModelName, Model] | None = None,
    *,
    a100_nodes: int = 4,
    devices_per_node: int = 4,
    t4_nodes: int = 0,
) -> Catalogue:
    return Catalogue(
        node_classes={A100: a_node_class(), T4: a_node_class(16.0, "0.50")},
        pools=(
            Pool(
                node_class=A100,
                zone=Zone("zone-a"),
                nodes=a100_nodes,
                devices_per_node=devices_per_node,
            ),
            Pool(node_class=T4, zone=Zone("zone-a"), nodes=t4_nodes, devices_per_node=4),
        ),
        models=models or {CHAT: a_model()},
    )


def a_replica(name: str, lane: Lane = Lane.SERVING, **more: Any) -> Replica:
    """A replica in good health, as its lane suggests."""
    up = lane is not Lane.LOADING
    given: dict[str, Any] = {
        "name": ReplicaName(name),
        "model": CHAT,
        "node_class": A100,
        "lane": lane,
        "phase": Phase.RUNNING,
        "stage": Stage.UP if up else Stage.LOADING_MODEL,
        "created_at": NOW - 500.0,
        "node": NodeName("a100-01"),
        "zone": Zone("zone-a"),
        "healthy": up,
        "warmed_up": up,
        "lane_since": NOW - 400.0,
        "in_flight": reading(0, NOW),
    }
    return Replica(**{**given, **more})
