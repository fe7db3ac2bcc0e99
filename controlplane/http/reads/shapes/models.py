"""What the model pages draw: a row of the table, the detail, the chart series."""

from collections.abc import Mapping
from typing import Any

import msgspec

from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.http.reads.figures import Figure, SparkPoints
from controlplane.http.reads.shapes.decisions import DecisionLine


class LaneCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Replicas by lane. `sleeping` are part of `warm`, `pending` part of `loading`."""

    serving: int = 0
    warm: int = 0
    loading: int = 0
    draining: int = 0
    sleeping: int = 0
    pending: int = 0
    lost: int = 0  # on a silent node, or failed


class ClassRow(msgspec.Struct, frozen=True, kw_only=True):
    """One priority class of a model."""

    priority: str
    queue: Figure
    arrivals: Figure
    turned_away: Figure
    wait_p99: Figure  # against its objective
    latency_p99: Figure  # against its objective


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """A model in the table."""

    name: str
    team: str
    kind: str
    importance: int
    target: int | None
    advised: int | None  # advisory mode: what the target would be
    lanes: LaneCounts | None  # None: the cluster was not seen yet
    slo_broken: bool
    classes: tuple[ClassRow, ...]  # high, medium, low
    drain: Figure
    drain_points: SparkPoints
    wait: Figure  # of the class nearest to, or farthest beyond, its limit
    wait_class: str | None
    wait_points: SparkPoints
    memory: Figure  # KV cache or VRAM against the watermark
    utilisation: Figure
    last: DecisionLine | None
    cost_micros_per_hour: int | None
    warm_micros_per_hour: int | None
    paused_by: str | None
    paused_at: Instant | None
    pinned: int | None
    pinned_by: str | None
    isolated_by: str | None = None  # who took it out of traffic
    isolated_at: Instant | None = None


class MatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a model can run on a node class, and why (not)."""

    node_class: str
    fits: bool
    devices: int | None
    micros_per_hour: int | None
    reasons: tuple[tuple[ReasonCode, tuple[Evidence, ...]], ...]


class ReplicaRow(msgspec.Struct, frozen=True, kw_only=True):
    """A replica in the model's table."""

    name: str
    node_class: str
    node: str | None
    zone: str | None
    lane: str
    phase: str
    stage: str
    created_at: Instant
    lane_since: Instant
    in_flight: Figure
    sleeping: bool
    note: str


class SpareRow(msgspec.Struct, frozen=True, kw_only=True):
    """Capacity kept ready beyond the target."""

    kind: str
    wanted: int
    ready: int | None
    sleeping: int | None
    rotate_s: float | None
    oldest_since: Instant | None


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A decision on the time axis of the charts."""

    at: Instant
    id: int
    current: int
    target: int
    code: ReasonCode


class ForecastLine(msgspec.Struct, frozen=True, kw_only=True):
    """What an expert expected, placed at the time it was expected for."""

    expert: str
    trusted: bool
    error: float | None
    at: tuple[Instant, ...]
    rate: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """The four charts on one axis: every sequence is as long as `at`; None is a gap."""

    at: tuple[Instant, ...]
    arrivals: Mapping[str, tuple[float | None, ...]]  # by priority class, per second
    queue: Mapping[str, tuple[float | None, ...]]
    drain_s: tuple[float | None, ...]
    wait_p99: Mapping[str, tuple[float | None, ...]]
    latency_p99: Mapping[str, tuple[float | None, ...]]
    memory: tuple[float | None, ...]
    utilisation: tuple[float | None, ...]
    lanes: Mapping[str, tuple[int, ...]]
    target: tuple[int, ...]
    forecasts: tuple[ForecastLine, ...]
    marks: tuple[Mark, ...]
    drain_limit_s: float | None
    wait_limits: Mapping[str, float]
    watermark: float | None


class ModelDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A model's page."""

    row: ModelRow
    split: Mapping[str, int]  # node class -> replicas wanted in service
    matches: tuple[MatchRow, ...]
    spare: SpareRow
    replicas: tuple[ReplicaRow, ...]
    decisions: tuple[DecisionLine, ...]
    cost_today_micros: int | None
    currency: str
    zone_margin: int | None  # replicas kept to outlive a zone; None: not asked for
    zone_margin_micros_per_hour: int | None  # what they cost
    policy: Any  # as set, plain data
    min: int
    max: int
