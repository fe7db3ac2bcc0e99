"""Small fleets and instances the placement tests are told about."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from controlplane.decide.placement.instance import Instance, Machine, Pod
from controlplane.domain.catalogue import (
    Catalogue,
    Model,
    Need,
    NodeClass,
    Pair,
    Pool,
    Runtime,
    Variant,
)
from controlplane.domain.fleet import Node
from controlplane.domain.quantities import ClassName, ModelName, NodeName, ReplicaName, Team, Zone
from controlplane.domain.replicas import Lane, Phase, Replica, Stage

CUDA = Runtime(kind="cuda", version="12.8")
CANN = Runtime(kind="cann", version="8.3.RC2")
A100, T4, B3, B4 = (ClassName(n) for n in ("A100-80G", "T4", "910B3", "910B4"))
CLASSES = {
    A100: NodeClass(
        vendor="nvidia",
        resource="nvidia.com/gpu",
        vram_gib=80,
        price_per_hour=Decimal("2.00"),
        runtime=CUDA,
    ),
    T4: NodeClass(
        vendor="nvidia",
        resource="nvidia.com/gpu",
        vram_gib=16,
        price_per_hour=Decimal("0.35"),
        runtime=CUDA,
    ),
    B3: NodeClass(
        vendor="ascend",
        resource="huawei.com/Ascend910",
        vram_gib=64,
        price_per_hour=Decimal("1.50"),
        runtime=CANN,
    ),
    B4: NodeClass(
        vendor="ascend",
        resource="huawei.com/Ascend910",
        vram_gib=32,
        price_per_hour=Decimal("0.80"),
        runtime=CANN,
    ),
}


def model(gib: float, on: Mapping[ClassName, Runtime] | None = None, **more: Any) -> Model:
    """A model that needs so much, with a variant on each class named."""
    runtimes = on if on is not None else {name: kind.runtime for name, kind in CLASSES.items()}
    variants = {
        name: Variant(image="registry/model:1", runtime=runtime, slots=4, service_s=0.5)
        for name, runtime in runtimes.items()
    }
    return Model(team=Team("a"), need=Need(vram_gib=gib), variants=variants, **more)


def catalogue(
    models: Mapping[str, Model], pools: tuple[Pool, ...] = (), pairs: tuple[Pair, ...] = ()
) -> Catalogue:
    """A catalogue of the four classes."""
    named = {ModelName(name): given for name, given in models.items()}
    return Catalogue(node_classes=CLASSES, models=named, pools=pools, pairs=pairs)


def node(name: str, node_class: ClassName, devices: int) -> Node:
    """A ready node."""
    return Node(name=NodeName(name), node_class=node_class, zone=Zone("a"), devices=devices)


def replica(name: str, of: str, node_class: ClassName, on: str | None, **more: Any) -> Replica:
    """A replica in service, or, without a node, one that waits for a device."""
    state: dict[str, Any] = {
        "lane": Lane.SERVING if on else Lane.LOADING,
        "phase": Phase.RUNNING if on else Phase.PENDING,
        "stage": Stage.UP if on else Stage.UNSCHEDULED,
        "healthy": bool(on),
        "warmed_up": bool(on),
    }
    return Replica(
        name=ReplicaName(name),
        model=ModelName(of),
        node_class=node_class,
        node=NodeName(on) if on else None,
        created_at=0.0,
        lane_since=0.0,
        **(state | more),
    )


def machine(name: str, devices: int, usable_mib: int, runtime: str = "cuda") -> Machine:
    """A machine of a class named after its devices' memory."""
    return Machine(
        name=NodeName(name),
        zone=Zone("z"),
        node_class=ClassName(f"{runtime}-{usable_mib}"),
        devices=devices,
        usable_mib=usable_mib,
        runtime=runtime,
    )


def pods(count: int, need_mib: int, devices: int = 1, runtimes: str = "cuda") -> tuple[Pod, ...]:
    """So many alike pods."""
    name = f"{devices}x{need_mib}-{runtimes}"
    return tuple(
        Pod(
            name=f"{name}-{i}",
            model=ModelName(name),
            devices=devices,
            need_mib=need_mib,
            runtimes=frozenset(runtimes.split("|")),
        )
        for i in range(count)
    )


def instance(
    machines: tuple[Machine, ...], wanted: tuple[Pod, ...], *, whole_devices: bool = False
) -> Instance:
    """A packing problem."""
    return Instance(machines=machines, pods=wanted, whole_devices=whole_devices)
