"""What the first page draws: attention, sums, device cells, the top bar."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.http.reads.shapes.models import ModelRow

Severity: TypeAlias = Literal["bad", "warn"]


class Attention(msgspec.Struct, frozen=True, kw_only=True):
    """Something a person should look at."""

    subject: str  # a model, a node, a loop, "catalogue", "*"
    severity: Severity
    code: ReasonCode
    evidence: tuple[Evidence, ...]
    since: Instant
    decision: int | None = None  # where the why stands


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """The fleet in four figures; None where it is not known."""

    devices: int | None
    held: int | None
    idle_share: float | None  # of held device time, last hour
    micros_per_hour: int | None  # the bill: every device, held or not
    warm_micros_per_hour: int | None
    idle_micros_per_hour: int | None
    breach_to_capacity_s: float | None  # the newest breach of the last hour
    breach_at: Instant | None
    breach_model: str | None
    currency: str


class DeviceCell(msgspec.Struct, frozen=True, kw_only=True):
    """One device. A free one has no model and fill 0."""

    index: int
    model: str | None = None
    replica: str | None = None
    lane: str | None = None
    stage: str | None = None
    fill: float = 0.0  # VRAM held / size
    held_gib: float | None = 0.0  # None: the class is not catalogued
    sleeping: bool = False
    lost: bool = False  # its node is silent
    others: tuple[str, ...] = ()  # replicas that share the device, asleep
    foreign: bool = False  # held by a pod that is no replica


class NodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A node and its devices."""

    name: str
    zone: str
    ready: bool
    schedulable: bool
    devices: tuple[DeviceCell, ...]
    note: str = ""  # what is odd about it


class UnknownRow(msgspec.Struct, frozen=True, kw_only=True):
    """A node with accelerators of no class in the catalogue."""

    name: str
    zone: str
    devices: int
    labels: Mapping[str, str]  # those that tell about accelerators
    why: str  # what is missing in the catalogue


class NodeLine(msgspec.Struct, frozen=True, kw_only=True):
    """A node in a table."""

    name: str
    node_class: str | None  # None: of no class in the catalogue
    zone: str
    devices: int
    held: int  # by replicas
    foreign: int  # by pods that are no replicas
    ready: bool | None  # None: not asked of a node that is never used
    schedulable: bool | None
    note: str


class PendingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A replica that has no device yet."""

    replica: str
    model: str
    since: Instant
    note: str


class PoolRow(msgspec.Struct, frozen=True, kw_only=True):
    """All nodes of one class."""

    node_class: str
    vendor: str | None  # this and the next three: None where the class is not catalogued
    runtime: str | None  # e.g. "CANN 8.5.1"
    vram_gib: float | None
    price_micros: int | None  # per device and hour
    zones: tuple[str, ...]
    devices: int
    held: int
    stranded_share: float | None  # of the VRAM of held devices, what nobody holds
    nodes: tuple[NodeRow, ...]
    pending: tuple[PendingRow, ...]


class TopBar(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of the top bar."""

    cluster: str
    world: str
    acting: bool
    leader: str
    now: Instant
    data_at: Instant | None  # of the newest snapshot
    data_age_s: float | None  # real seconds are data_age_s / speed
    speed: float
    attention: int
    paused_all_by: str | None
    paused_all_at: Instant | None
    silent: tuple[str, ...]  # loops that should have been heard
    catalogue_version: int
    catalogue_faults: tuple[str, ...]
    catalogue_refused_at: Instant | None


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """The first page."""

    top: TopBar
    attention: tuple[Attention, ...]
    quiet_since: Instant | None  # set when nothing needs attention
    sums: Sums
    inventory: str | None  # why the nodes are not known; None when they are
    pools: tuple[PoolRow, ...]
    models: tuple[ModelRow, ...]
    unknown: tuple[UnknownRow, ...] = ()
    inventory_note: str = ""  # what exactly keeps the nodes from being known
