"""What scaling sees and remembers. One `ScaleInput` is all that one model's decision depends on.

It is stored beside the decision, so that `explain` can decide again and must find the same trail.
"""

from collections.abc import Mapping

import msgspec

from controlplane.domain.fleet import FleetView
from controlplane.domain.load import ModelLoad
from controlplane.domain.overrides import Override
from controlplane.domain.policies import ModelPolicy
from controlplane.domain.quantities import ClassName, Instant, ModelName
from controlplane.domain.reasons import Evidence, ReasonCode


class Span(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of time in which the rules wished for the same number; None: signals unknown."""

    start: Instant
    end: Instant
    wish: int | None


class ColdStart(msgspec.Struct, frozen=True, array_like=True):
    """So many replicas were asked for cold at that time."""

    at: Instant
    replicas: int


class ModelMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What one model's scaling must remember over cycles and restarts (law 11)."""

    target: int | None = None  # None: never decided
    split: Mapping[ClassName, int] = {}
    since: Instant = 0.0  # when target or split last changed
    changed_at: Instant | None = None  # when the target last changed, for cooldown and steps
    before_change: int = 0  # the target before the current step period began
    step_began: Instant | None = None
    wishes: tuple[Span, ...] = ()
    cold: tuple[ColdStart, ...] = ()
    short: Mapping[ClassName, Instant] = {}  # class -> left alone until
    waiting_since: Instant | None = None  # wants more than it can get
    wanted: int = 0  # what it would be with devices enough
    slo_broken: bool = False  # as of the last cycle


class ScalingMemory(msgspec.Struct, frozen=True, kw_only=True):
    """All models' memories."""

    models: Mapping[ModelName, ModelMemory] = {}


class VariantFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A class this model may run on, as far as deciding needs it; cheapest per request first."""

    node_class: ClassName
    devices: int
    slots: int
    service_s: float  # declared; stands until it is measured
    load_s: float
    hourly: float  # price of one replica and hour, for ordering only


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A model's replicas on one class, by what they count as."""

    serving: int = 0
    promotable: int = 0
    loading: int = 0
    unschedulable: int = 0  # of the loading ones
    unschedulable_since: Instant | None = None  # of the one that waits longest

    @property
    def scheduled(self) -> int:
        """Replicas that have their devices: in service, warm, or on their way up."""
        return self.serving + self.promotable + self.loading - self.unschedulable


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """What the fleet can still give a model, after the models that come before it.

    `grants` is None where the inventory is unknown: nothing grows then (behaviour P1).
    """

    grants: Mapping[ClassName, int] | None
    lost_to: ModelName | None = None  # who took the devices this model wanted
    rule: ReasonCode | None = None  # set when there are no devices or no class fits
    evidence: tuple[Evidence, ...] = ()


class ScaleInput(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one model's decision depends on."""

    at: Instant
    model: ModelName
    importance: int
    policy: ModelPolicy
    variants: tuple[VariantFacts, ...]
    load: ModelLoad
    held: Mapping[ClassName, Held]
    memory: ModelMemory
    override: Override | None = None
    move: tuple[ClassName, ClassName] | None = None  # placement asks: away from, to
    room: Room | None = None  # filled in by arbitration
    zones: int = 0  # with nodes of its classes, where its policy asks; 0: unknown or not asked


class ScalingSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One cycle's snapshot of everything."""

    at: Instant
    view: FleetView
    loads: Mapping[ModelName, ModelLoad]
    overrides: Mapping[str, Override] = {}
    moves: Mapping[ModelName, tuple[ClassName, ClassName]] = {}
