"""Scaling's cycle: every model wishes, arbitration gives room, every model settles."""

from collections.abc import Mapping

import msgspec

from controlplane.decide.scaling.arbitrate import Claim, rooms
from controlplane.decide.scaling.decision import settle, wish
from controlplane.decide.scaling.inputs import (
    Held,
    ModelMemory,
    ScaleInput,
    ScalingMemory,
    ScalingSeen,
    VariantFacts,
)
from controlplane.decide.scaling.variants import VariantTable
from controlplane.decide.zones.survive import zones_for
from controlplane.domain.catalogue import Catalogue, Model
from controlplane.domain.decisions import Choice
from controlplane.domain.fleet import free_devices, replicas_by_model
from controlplane.domain.load import silent
from controlplane.domain.overrides import paused, pinned
from controlplane.domain.quantities import ClassName
from controlplane.domain.replicas import Replica
from controlplane.domain.samples import NoData

FRESH = ModelMemory()


def cycle(
    seen: ScalingSeen, catalogue: Catalogue, table: VariantTable, memory: ScalingMemory
) -> tuple[tuple[Choice, ...], ScalingMemory]:
    """Decide every model's target. `table` is `variants(catalogue)`, made once per catalogue."""
    by_model = replicas_by_model(seen.view.replicas)
    overrides = dict(seen.overrides)
    claims = []
    for name, model in catalogue.models.items():
        look = ScaleInput(
            at=seen.at,
            model=name,
            importance=model.importance,
            policy=model.policy,
            variants=table.facts[name],
            load=seen.loads.get(name) or silent(name, seen.at),
            held=hold(by_model.get(name, ())),
            memory=memory.models.get(name, FRESH),
            override=pinned(overrides, name) or paused(overrides, name),
            move=seen.moves.get(name),
            zones=_zones(seen, model, table.facts[name]),
        )
        claims.append(Claim(look, wish(look)))
    nodes = seen.view.nodes
    free = (
        {}
        if isinstance(nodes, NoData)
        else free_devices(nodes, seen.view.replicas, table.devices, seen.view.others)
    )
    given = rooms(claims, nodes, free)
    choices, memories = [], {}
    for claim in claims:
        look = msgspec.structs.replace(claim.seen, room=given[claim.seen.model])
        choice, memories[look.model] = settle(look, claim.wished)
        choices.append(choice)
    return tuple(choices), ScalingMemory(models=memories)


def _zones(seen: ScalingSeen, model: Model, facts: tuple[VariantFacts, ...]) -> int:
    if not model.policy.scaling.survive_zone:
        return 0
    return zones_for(seen.view.nodes, {of_class.node_class for of_class in facts})


def hold(replicas: tuple[Replica, ...]) -> Mapping[ClassName, Held]:
    """Count a model's replicas per class by what they count as (law 5)."""
    by_class: dict[ClassName, list[Replica]] = {}
    for replica in replicas:
        by_class.setdefault(replica.node_class, []).append(replica)
    return {name: _held(of_class) for name, of_class in by_class.items()}


def _held(replicas: list[Replica]) -> Held:
    stuck = [r.unschedulable_since for r in replicas if r.unschedulable_since is not None]
    serving = promotable = loading = 0
    for replica in replicas:
        if replica.serving:
            serving += 1
        elif replica.promotable:
            promotable += 1
        elif replica.loading:
            loading += 1
    return Held(
        serving=serving,
        promotable=promotable,
        loading=loading,
        unschedulable=len(stuck),
        unschedulable_since=min(stuck, default=None),
    )
