"""What one look at the cluster shows: nodes, devices, replicas. One consistent snapshot."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from controlplane.domain.quantities import ClassName, Instant, ModelName, NodeName, Zone
from controlplane.domain.replicas import Phase, Replica
from controlplane.domain.samples import NoData


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One machine and its devices, all of one class."""

    name: NodeName
    node_class: ClassName
    zone: Zone
    devices: int  # healthy and allocatable
    ready: bool = True
    schedulable: bool = True  # False: cordoned
    note: str = ""  # e.g. "2 of 8 devices are unhealthy"


class UnknownNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node with accelerators of no class in the catalogue: shown, never dropped, never used."""

    name: NodeName
    zone: Zone
    devices: int
    labels: Mapping[str, str]  # those that tell about accelerators
    why: str  # one sentence: what is missing in the catalogue


class FleetView(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster at one moment. `nodes` is NoData when the list could not be had (law 1)."""

    at: Instant
    nodes: tuple[Node, ...] | NoData
    replicas: tuple[Replica, ...]
    unknown: tuple[UnknownNode, ...] = ()
    others: Mapping[NodeName, int] = {}  # devices held by pods that are no replicas


def replicas_by_model(replicas: Iterable[Replica]) -> Mapping[ModelName, tuple[Replica, ...]]:
    """Group replicas by their model."""
    grouped: dict[ModelName, list[Replica]] = {}
    for replica in replicas:
        grouped.setdefault(replica.model, []).append(replica)
    return {model: tuple(of_model) for model, of_model in grouped.items()}


def free_devices(
    nodes: Iterable[Node],
    replicas: Iterable[Replica],
    devices_of: Mapping[tuple[ModelName, ClassName], int],
    others: Mapping[NodeName, int] = MappingProxyType({}),
) -> dict[NodeName, int]:
    """Count the devices per node that no pod holds; only ready, schedulable nodes offer any.

    `devices_of` says how many devices one replica of a variant holds, where the pod itself does
    not say; `others` what pods that are no replicas hold. A terminating pod still holds its own.
    """
    free = {node.name: node.devices for node in nodes if node.ready and node.schedulable}
    for replica in replicas:
        if replica.node in free and replica.phase is not Phase.FAILED:
            of_variant = devices_of.get((replica.model, replica.node_class), 0)
            free[replica.node] -= replica.devices or of_variant
    for name, held in others.items():
        if name in free:
            free[name] -= held
    return free
