"""A pod as the API sends it, read without what is not used, and as it is kept: a tenth of that.

Pods are kept when they are a model's, or hold devices a model may want; no others.
"""

from datetime import datetime

import msgspec

from controlplane.adapters.kubernetes.amounts import extended, most, together
from controlplane.adapters.kubernetes.pod_notes import Spoken, spoken
from controlplane.domain import marks
from controlplane.domain.quantities import Instant


class Labels(msgspec.Struct, frozen=True):
    """The labels that are ours."""

    model: str = msgspec.field(default="", name=marks.MODEL)
    node_class: str = msgspec.field(default="", name=marks.CLASS)
    lane: str = msgspec.field(default="", name=marks.LANE)


class Annotations(msgspec.Struct, frozen=True):
    """The annotations that are ours."""

    lane_since: str = msgspec.field(default="", name=marks.LANE_SINCE)
    warmed_up: str = msgspec.field(default="", name=marks.WARMED_UP)
    lent_slots: str = msgspec.field(default="", name=marks.LENT_SLOTS)
    sleeping: str = msgspec.field(default="", name=marks.SLEEPING)
    rendered: str = msgspec.field(default="", name=marks.RENDERED)


class Owner(msgspec.Struct, frozen=True):
    """Who controls the pod."""

    kind: str
    name: str
    controller: bool = False


class Metadata(msgspec.Struct, frozen=True, rename="camel"):
    """What every object begins with."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: Labels = Labels()
    annotations: Annotations = Annotations()
    owner_references: list[Owner] = []


class Asks(msgspec.Struct, frozen=True):
    """Resources of a container."""

    requests: dict[str, str] = {}
    limits: dict[str, str] = {}


class ContainerSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A container as it was wanted."""

    name: str
    resources: Asks = Asks()
    restart_policy: str = ""  # "Always" makes an init container a sidecar


class PodSpec(msgspec.Struct, frozen=True, rename="camel"):
    """What was wanted."""

    containers: list[ContainerSpec] = []
    init_containers: list[ContainerSpec] = []
    node_name: str = ""
    scheduler_name: str = ""


class RawPod(msgspec.Struct, frozen=True):
    """A pod as it is sent."""

    metadata: Metadata
    spec: PodSpec = PodSpec()
    status: Spoken = Spoken()


class Pod(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A pod as it is kept."""

    name: str
    namespace: str
    uid: str
    version: int
    model: str
    node_class: str
    lane: str
    owner: str
    created_at: Instant
    terminating: bool
    node: str
    phase: str
    ip: str
    ready: bool
    container: str
    started: str  # names this start of the engine's container; empty while it does not run
    pulling: bool
    stuck: bool
    note: str
    unschedulable_since: Instant | None
    lane_since: Instant | None
    warmed_up: str
    lent_slots: int
    sleeping: bool
    rendered: str  # a digest of the template it was made of; empty where we did not render it
    devices: dict[str, int]

    @property
    def key(self) -> tuple[str, str]:
        """Give namespace and name."""
        return (self.namespace, self.name)

    @property
    def holds(self) -> bool:
        """Say whether its devices are taken: until it is gone, or has come to its end."""
        return bool(self.node) and self.phase not in ("Succeeded", "Failed")

    @property
    def telling(self) -> tuple[object, ...]:
        """Give what is worth a look when it changes."""
        return (
            self.model,
            self.lane,
            self.node,
            self.phase,
            self.ready,
            self.started,
            self.terminating,
            self.unschedulable_since is None,
            self.note,
            self.warmed_up,
        )


def keep_pod(raw: RawPod) -> Pod | None:
    """Give what is kept of a pod, if any of it is."""
    about, spec = raw.metadata, raw.spec
    devices = _devices(spec)
    if not devices and not about.labels.model:
        return None
    engine = _engine(spec)
    said = spoken(raw.status, engine)
    created = about.creation_timestamp
    owner = next((o for o in about.owner_references if o.controller), None)
    return Pod(
        name=about.name,
        namespace=about.namespace,
        uid=about.uid,
        version=int(about.resource_version or 0),
        model=about.labels.model,
        node_class=about.labels.node_class,
        lane=about.labels.lane,
        owner=f"{owner.kind}/{owner.name}" if owner else "",
        created_at=created.timestamp() if created else 0.0,
        terminating=about.deletion_timestamp is not None,
        node=spec.node_name,
        phase=raw.status.phase,
        ip=raw.status.pod_ip,
        ready=said.ready,
        container=engine,
        started=said.started,
        pulling=said.pulling,
        stuck=said.stuck,
        note=said.note or _unheard(spec, raw.status),
        unschedulable_since=said.unschedulable_since,
        lane_since=_number(about.annotations.lane_since),
        warmed_up=about.annotations.warmed_up,
        lent_slots=int(_number(about.annotations.lent_slots) or 0),
        sleeping=about.annotations.sleeping == "true",
        rendered=about.annotations.rendered,
        devices=devices,
    )


def _devices(spec: PodSpec) -> dict[str, int]:
    """Count as the scheduler does: containers together with sidecars, or the largest init."""
    sidecars = [_asked(c) for c in spec.init_containers if c.restart_policy == "Always"]
    running = together(*(_asked(c) for c in spec.containers), *sidecars)
    before = [_asked(c) for c in spec.init_containers if c.restart_policy != "Always"]
    counts = most(running, *before) if before else running
    return {name: count for name, count in counts.items() if count}


def _asked(container: ContainerSpec) -> dict[str, int]:
    asks = container.resources
    return extended(asks.requests or asks.limits)


def _engine(spec: PodSpec) -> str:
    """Name the container that answers: ours, or in an adopted pod the one with the devices."""
    names = [container.name for container in spec.containers]
    if marks.CONTAINER in names or not names:
        return marks.CONTAINER
    holders = [container.name for container in spec.containers if any(_asked(container).values())]
    return (holders or names)[0]


def _unheard(spec: PodSpec, status: Spoken) -> str:
    """Say that no scheduler spoke of it: one that does not run says nothing for ever."""
    if spec.node_name or not spec.scheduler_name or status.phase != "Pending":
        return ""
    if any(condition.type == "PodScheduled" for condition in status.conditions):
        return ""
    return f"the scheduler {spec.scheduler_name} has not looked at it yet"


def _number(written: str) -> float | None:
    """Read what we wrote; what somebody else made of it is not there."""
    try:
        number = float(written)
    except ValueError:
        return None
    return number if 0 <= number < 1e12 else None
