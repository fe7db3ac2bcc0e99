"""What may go wrong in a world, and when. Scheduled in the spec, or inflicted while it runs."""

from typing import TypeAlias

import msgspec

from controlplane.domain.quantities import Instant, ModelName, NodeName, ReplicaName, Zone


class NodeDies(msgspec.Struct, frozen=True, tag=True):
    """A node goes silent: its pods stay listed, what runs on them is lost."""

    at: Instant
    node: NodeName


class NodeReturns(msgspec.Struct, frozen=True, tag=True):
    """A silent node answers again, empty: its old pods are gone, its images are not."""

    at: Instant
    node: NodeName


class ZoneDies(msgspec.Struct, frozen=True, tag=True):
    """Every node of a zone goes silent."""

    at: Instant
    zone: Zone


class PodFails(msgspec.Struct, frozen=True, tag=True):
    """A pod's container ends: the named one, or the oldest serving one of the model."""

    at: Instant
    model: ModelName
    replica: ReplicaName | None = None
    note: str = "Error"


class GenerationHangs(msgspec.Struct, frozen=True, tag=True):
    """From now on new engines of the model answer health checks but never generate (R2)."""

    at: Instant
    model: ModelName
    replicas: int = 1  # how many of the next engines that come up


Fault: TypeAlias = NodeDies | NodeReturns | ZoneDies | PodFails | GenerationHangs
