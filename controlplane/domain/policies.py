"""What people set: how a model is scaled, kept ready and admitted. One settings set for everybody.

Each seed's way of doing things is expressed with these very fields (see `settings` profiles), so a
user can run it, compare it and leave it. `None` always means "this rule is off".
The attribute docstrings become the descriptions in the JSON Schema and the settings reference.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import (
    Count,
    PositiveCount,
    PositiveSeconds,
    Ratio,
    Seconds,
    Share,
)

STRICT: dict[str, Any] = {
    "extra": "forbid",
    "allow_inf_nan": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """What a priority class of a model promises."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    wait_p99_s: PositiveSeconds
    """99 of 100 requests get a slot within this time (arrival to slot; what we control)."""
    latency_p99_s: PositiveSeconds | None = None
    """99 of 100 requests end within this time (arrival to last byte, with service)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPolicy:
    """When the target moves, how fast, and between which bounds."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    min: Count = 1
    """Never fewer replicas in service than this."""
    max: PositiveCount = 8
    """Never more replicas in service than this."""
    survive_zone: bool = False
    """Keep so many in service that the rest holds the objectives when the fullest zone is lost."""

    # triggers: each wishes up or down
    drain_limit_s: PositiveSeconds | None = 30.0
    """Raise when the queue would take longer than this to drain."""
    p99: bool = True
    """Raise when a class's P99 wait or latency breaks its objective."""
    watermark: Ratio | None = 0.85
    """Raise when KV cache (or VRAM, for engines that do not preallocate) is fuller than this."""
    offered_ceiling: Ratio | None = 0.85
    """Raise when arrivals x service time exceed this share of the slots (all classes)."""
    burst_ceiling: Ratio = 1.0
    """Share of the slots to plan for while a class is being turned away or waits beyond its limit:
    a burst is answered with just enough, not with the comfort of `offered_ceiling`."""
    turned_away: bool = True
    """Raise at once when a request was refused for want of capacity."""
    utilisation_ceiling: Ratio | None = 0.9
    """Raise when the devices are busier than this, but only together with another signal."""
    utilisation_alone: bool = False
    """Let device utilisation raise by itself (seed-004 does; utilisation is not load)."""
    utilisation_floor: Ratio | None = None
    """Propose one fewer below this utilisation (seed-004: 0.4); else survivors are computed."""
    depth_target: PositiveSeconds | None = None
    """Queue depth per replica to hold, weighted by `depth_weights` (seed-000 and seed-001: 5)."""
    depth_weights: Mapping[Priority, Count] = field(
        default_factory=lambda: {Priority.HIGH: 1, Priority.MEDIUM: 1, Priority.LOW: 1}
    )
    """Weights of the classes in the queue depth (seed-000: 3, 2, 1)."""
    depth_hysteresis: Seconds = 0.0
    """Raise only above `depth_target` + this, fall only below `depth_target` (seed-000: 0.5)."""
    depth_alone_falls: bool = False
    """Let an empty queue propose to fall (the seeds do; it is empty whenever capacity suffices)."""

    # steps
    cold_step_share: Share | None = 0.5
    """At most this share of the target may be created cold per `step_period_s`."""
    cold_step_min: PositiveCount = 2
    """… but this many always may."""
    step_period_s: PositiveSeconds = 15.0
    """The period of the step limits."""
    step_up: PositiveCount | None = None
    """At most so many more replicas per step period, warm ones too (the seeds: 1)."""
    step_down: PositiveCount | None = None
    """At most so many fewer replicas per step period (the seeds: 1)."""

    # holding
    stabilisation_s: Seconds | None = None
    """Fall only to the highest wish of this window. Default: measured load time + 30 s, at least
    120 s; a shorter one is accepted with a warning."""
    cooldown_s: Seconds = 0.0
    """After a change, fall only when this time has passed (seed-004: 300, for rises too)."""
    cooldown_up: bool = False
    """Let the cooldown hold rises too."""
    coverage: Ratio = 0.9
    """Fall only when this share of the window had known signals."""
    steady_s: PositiveSeconds = 60.0
    """Window of the arrival rate that decides without a broken limit."""
    backoff_s: PositiveSeconds = 120.0
    """A class whose replica is unschedulable this long is short and is left alone for as long."""
    writer: Literal["controlplane", "keda", "hpa", "nobody"] = "controlplane"
    """Who writes the number of replicas: controlplane itself · keda: a ScaledObject, over our
    external scaler · hpa: a HorizontalPodAutoscaler, over our metric · nobody: it is only shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparePolicy:
    """Capacity kept ready on top of the target."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    count: Count = 0
    """Replicas kept loaded and warm beyond the target."""
    kind: Literal["warm", "lending", "sleeping"] = "warm"
    """warm: no traffic · lending: serves low on part of its slots · sleeping: engine sleep."""
    lend_share: Ratio = 0.5
    """The part of its slots a lending spare gives to low."""
    rotate_s: PositiveSeconds | None = 1800.0
    """Replace a spare older than this (grow, wait warm, drain the old, shrink)."""
    drain_limit_s: PositiveSeconds = 120.0
    """A draining replica still busy after this is deleted all the same."""
    load_limit_s: PositiveSeconds = 600.0
    """A replica neither warm nor serving after this is replaced, with the reason shown."""
    warmup_requests: Count = 100
    """Size of the warm-up batch a replica must answer before it may be promoted."""
    warmup_limit_s: PositiveSeconds = 60.0
    """The batch is made smaller where, at 2.5 times the usual service time, it would take longer;
    each slot gets one request at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionPolicy:
    """Who gets the next free slot, who waits and who is refused."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    limits: Literal["scaled", "fixed"] = "scaled"
    """scaled: K = ready replicas x slots, work-conserving · fixed: hard caps (seed-000)."""
    fixed_limits: Mapping[Priority, Count] = field(
        default_factory=lambda: {Priority.HIGH: 8, Priority.MEDIUM: 4, Priority.LOW: 2}
    )
    """Active requests per class under `limits: fixed`."""
    queue_bounds: Mapping[Priority, Count] = field(
        default_factory=lambda: {Priority.HIGH: 50, Priority.MEDIUM: 100, Priority.LOW: 200}
    )
    """Waiting requests per class; the next one is refused."""
    queue_bytes: PositiveCount = 64 * 2**20
    """Bytes of waiting requests per class; the one that would exceed it is refused."""
    reserve: Count = 1
    """Slots per ready replica that low may not take."""
    guarantee: Mapping[Priority, Share] = field(default_factory=dict)
    """Share of the slots a class gets before higher classes are served."""
    minimum_service_s: PositiveSeconds | None = 15.0
    """Once per this time and model the longest waiting request gets the next slot, whatever its
    class, if it has waited so long."""
    ageing_s: PositiveSeconds | None = 15.0
    """A request that has waited so long moves up one class, once, keeping its arrival time."""
    max_wait_s: Mapping[Priority, PositiveSeconds] = field(default_factory=dict)
    """A request that waited so long is refused (429)."""
    prompt_limit: PositiveCount | None = None
    """Prompts of more tokens are refused (400)."""
    tokens_per_slot: PositiveCount | None = None
    """A request weighs 1 slot per so many tokens of prompt + max tokens, rounded up."""
    single_queue: bool = False
    """One unbounded queue without classes: what a plain balancer does. For comparison only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerPolicy:
    """When a failing model, or one failing replica of it, is left alone for a while."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    failures: PositiveCount | None = 5
    """So many broken answers in a row open the model's breaker: requests are refused at once."""
    open_s: PositiveSeconds = 30.0
    """After so long one request is let through as a probe; each that fails doubles the time."""
    open_limit_s: PositiveSeconds = 300.0
    """… up to this."""
    probe_s: PositiveSeconds = 60.0
    """A probe without an end after so long is lost, and another is let through."""
    replica_failures: PositiveCount | None = 5
    """So many broken answers in a row take one replica out of the balancing (seed-001: 3)."""
    interval_s: PositiveSeconds = 10.0
    """How often replicas are judged (seed-001: 30)."""
    ejection_s: PositiveSeconds | None = None
    """How long a replica is out, times how often it was. Default: the measured load time, at least
    30 s; where it is shorter than it takes to recover, it flaps (seed-001: 60)."""
    pending: PositiveCount | None = None
    """Requests that may wait for a connection in the balancer. Default: as many as admission lets
    through, for whoever was admitted must not be refused (seed-001: 10)."""
    requests_per_connection: PositiveCount | None = None
    """Close a connection to a replica after so many requests (seed-001: 5)."""
    silence_s: PositiveSeconds = 300.0
    """A request whose replica says nothing for so long is given up with 504."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPolicy:
    """All that is set for one model's capacity."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    objectives: Mapping[Priority, Objective] = field(default_factory=dict)
    """What each priority class promises; a class without an entry promises nothing."""
    scaling: ScalingPolicy = ScalingPolicy()
    """When the number of replicas in service moves."""
    spare: SparePolicy = SparePolicy()
    """What is kept ready on top of them."""
    admission: AdmissionPolicy = AdmissionPolicy()
    """Who gets the next free slot."""
    breaker: BreakerPolicy = BreakerPolicy()
    """When it, or one of its replicas, is left alone for a while."""
