"""What the loops may do to the world. Each action is one write, safe to repeat and to cut after."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from controlplane.domain.quantities import ClassName, ModelName, ReplicaName
from controlplane.domain.replicas import Lane


class SetTarget(msgspec.Struct, frozen=True, tag=True):
    """Put a target in force. Touches no cluster: the spare loop makes it so."""

    model: ModelName
    replicas: int
    split: Mapping[ClassName, int]


class SetReplicas(msgspec.Struct, frozen=True, tag=True):
    """Set a variant's Deployment to `count`; `victims` go first when it shrinks."""

    model: ModelName
    node_class: ClassName
    count: int
    victims: tuple[ReplicaName, ...] = ()


class SetLane(msgspec.Struct, frozen=True, tag=True):
    """Flip a replica's lane label, if the pod is still at `version`."""

    replica: ReplicaName
    lane: Lane
    version: int


class WarmUp(msgspec.Struct, frozen=True, tag=True):
    """Send a healthy, loading replica its warm-up batch."""

    replica: ReplicaName
    requests: int


class Sleep(msgspec.Struct, frozen=True, tag=True):
    """Put a warm replica to sleep (weights off the device)."""

    replica: ReplicaName


class Wake(msgspec.Struct, frozen=True, tag=True):
    """Wake a sleeping replica."""

    replica: ReplicaName


class Lend(msgspec.Struct, frozen=True, tag=True):
    """Give low `slots` of a warm replica; 0 takes them back. The lane stays `warm`."""

    replica: ReplicaName
    slots: int


class ApplyCatalogue(msgspec.Struct, frozen=True, tag=True):
    """Put a validated fleet file in force. Touches no cluster: the next cycles decide by it."""

    source: str


class Bill(msgspec.Struct, frozen=True, tag=True):
    """Write what is not known to be in the ledger. Writing a row twice is writing it once."""


class Ensure(msgspec.Struct, frozen=True, tag=True):
    """Make an object of the cluster as the catalogue says; `force` writes over who drifted it."""

    kind: str
    name: str
    force: bool = False

    @property
    def key(self) -> str:
        """Name the object among all."""
        return f"{self.kind}/{self.name}"


class Remove(msgspec.Struct, frozen=True, tag=True):
    """Delete a pod of ours that no Deployment keeps."""

    replica: ReplicaName


Action: TypeAlias = (
    SetTarget
    | SetReplicas
    | SetLane
    | WarmUp
    | Sleep
    | Wake
    | Lend
    | ApplyCatalogue
    | Bill
    | Ensure
    | Remove
)
