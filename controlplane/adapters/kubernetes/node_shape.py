"""A node as the API sends it, and as it is kept: labels, devices, taints, whether it answers."""

import sys
from collections.abc import Mapping

import msgspec

from controlplane.adapters.kubernetes.amounts import extended
from controlplane.adapters.kubernetes.pod_notes import Condition


class NodeMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """What the node begins with."""

    name: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    deletion_timestamp: str | None = None


class Taint(msgspec.Struct, frozen=True):
    """What keeps pods off a node."""

    key: str
    effect: str = ""
    value: str = ""


class NodeSpec(msgspec.Struct, frozen=True):
    """What people want of it."""

    taints: list[Taint] = []
    unschedulable: bool = False


class Image(msgspec.Struct, frozen=True):
    """An image the node has, by all its names."""

    names: list[str] | None = None


class NodeStatus(msgspec.Struct, frozen=True):
    """What it has and how it is."""

    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}
    conditions: list[Condition] = []
    images: list[Image] = []


class RawNode(msgspec.Struct, frozen=True):
    """A node as it is sent."""

    metadata: NodeMetadata
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Machine(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A node as it is kept."""

    name: str
    version: int
    labels: Mapping[str, str]
    annotations: Mapping[str, str]  # those that tell about devices
    capacity: Mapping[str, int]  # extended resources only, as the next
    allocatable: Mapping[str, int]
    taints: tuple[Taint, ...]
    cordoned: bool
    ready: bool
    leaving: bool
    images: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """Give namespace and name; nodes have no namespace."""
        return ("", self.name)

    @property
    def telling(self) -> tuple[object, ...]:
        """Give what is worth a look when it changes; images come and go unnoticed."""
        return (
            self.labels,
            self.annotations,
            self.allocatable,
            self.taints,
            self.cordoned,
            self.ready,
            self.leaving,
        )


def keep_node(raw: RawNode) -> Machine:
    """Give what is kept of a node."""
    about, status = raw.metadata, raw.status
    ready = next((c.status for c in status.conditions if c.type == "Ready"), "Unknown")
    return Machine(
        name=about.name,
        version=int(about.resource_version or 0),
        labels=_shared(about.labels),
        annotations={k: v for k, v in about.annotations.items() if _telling(k)},
        capacity=extended(status.capacity),
        allocatable=extended(status.allocatable),
        taints=tuple(raw.spec.taints),
        cordoned=raw.spec.unschedulable,
        ready=ready == "True",
        leaving=about.deletion_timestamp is not None,
        images=tuple(sys.intern(name) for image in status.images for name in image.names or ()),
    )


def _shared(labels: Mapping[str, str]) -> dict[str, str]:
    """Keep one copy of what thousands of nodes say alike."""
    return {sys.intern(key): sys.intern(value) for key, value in labels.items()}


def _telling(annotation: str) -> bool:
    """Keep annotations about devices: their health and their register, no heartbeats."""
    if annotation.startswith("hami.io/node-"):
        return "register" in annotation
    return annotation.startswith("huawei.com/")
