"""What the spare loop sees of one model: its replicas, its target, its policy."""

from collections.abc import Mapping

import msgspec

from controlplane.decide.scaling.inputs import VariantFacts
from controlplane.domain.decisions import Plan, Standing
from controlplane.domain.fleet import FleetView
from controlplane.domain.overrides import Override
from controlplane.domain.policies import SparePolicy
from controlplane.domain.quantities import ClassName, Instant, ModelName, NodeName
from controlplane.domain.replicas import Replica


class SpareInput(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one model's lanes depend on."""

    at: Instant
    model: ModelName
    policy: SparePolicy
    standing: Standing
    variants: tuple[VariantFacts, ...]
    replicas: tuple[Replica, ...]
    room: Mapping[ClassName, int]  # replicas for which devices are free now
    lost: tuple[NodeName, ...] = ()  # those of its nodes that are in a zone that is lost
    hushed: bool = False  # most nodes are silent, and that is not believed yet


class SpareSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One cycle's snapshot."""

    at: Instant
    view: FleetView
    plan: Plan
    overrides: Mapping[str, Override] = {}


class SpareMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Spare remembers no plan: each is derived anew from what is seen."""

    cycles: int = 0
    hush_since: Instant | None = None  # since when most nodes of every zone are silent
