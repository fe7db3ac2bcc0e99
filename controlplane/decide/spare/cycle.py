"""Spare's cycle: every model's lanes, in the order in which they may take free devices."""

from controlplane.decide.scaling.arbitrate import Free
from controlplane.decide.scaling.variants import VariantTable
from controlplane.decide.spare.inputs import SpareInput, SpareMemory, SpareSeen
from controlplane.decide.spare.lanes import decide_spare
from controlplane.decide.zones.hush import hush_since, hushed
from controlplane.decide.zones.lost import lost
from controlplane.domain.actions import SetReplicas
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice
from controlplane.domain.fleet import free_devices, replicas_by_model
from controlplane.domain.overrides import paused
from controlplane.domain.replicas import Replica
from controlplane.domain.samples import NoData


def cycle(
    seen: SpareSeen, catalogue: Catalogue, table: VariantTable, memory: SpareMemory
) -> tuple[tuple[Choice, ...], SpareMemory]:
    """Decide for every model that has a target in force; only those with something to do speak."""
    by_model = replicas_by_model(seen.view.replicas)
    nodes = () if isinstance(seen.view.nodes, NoData) else seen.view.nodes
    gone = lost(seen.view.nodes).nodes
    since = hush_since(seen.view.nodes, seen.at, memory.hush_since)
    hush = hushed(seen.at, since)
    begun = hush and memory.hush_since is None
    left = free_devices(nodes, seen.view.replicas, table.devices, seen.view.others)
    free = Free(nodes, left)
    overrides = dict(seen.overrides)
    choices = []
    for name in sorted(seen.plan, key=lambda m: (seen.plan[m].importance, m)):
        model = catalogue.models.get(name)
        if model is None or paused(overrides, name) is not None:
            continue
        variants, replicas = table.facts[name], by_model.get(name, ())
        choice = decide_spare(
            SpareInput(
                at=seen.at,
                model=name,
                policy=model.policy.spare,
                standing=seen.plan[name],
                variants=variants,
                replicas=replicas,
                lost=tuple(sorted(r.node for r in replicas if r.node in gone)) if gone else (),
                hushed=hush,
                room={f.node_class: free.fitting(f.node_class, f.devices) for f in variants},
            )
        )
        if choice.actions or (begun and choice.trail):
            _take(free, choice, table, replicas)
            choices.append(choice)
    return tuple(choices), SpareMemory(cycles=memory.cycles + 1, hush_since=since)


def _take(free: Free, choice: Choice, table: VariantTable, replicas: tuple[Replica, ...]) -> None:
    """Let the next models see what this one is about to take."""
    for action in choice.actions:
        if isinstance(action, SetReplicas) and not action.victims:
            devices = table.devices.get((action.model, action.node_class), 1)
            grown = action.count - sum(1 for r in replicas if r.node_class == action.node_class)
            free.take(action.node_class, devices, max(0, grown))
