"""The loops at size: a thousand models in one cycle, and a virtual day of a small fleet.

Limits: one full cycle of 1,000 models, 2,000 nodes and 10,000 pods within 2 s of CPU and without
blocking the event loop for more than 50 ms; a day of 5 s cycles of all loops for seven models,
journal in memory, within 20 s.
"""

import asyncio
from time import perf_counter, process_time

from controlplane.decide.placement.relocate import PlacementMemory, PlacementSeen
from controlplane.decide.placement.relocate import cycle as placement_cycle
from controlplane.decide.scaling.cycle import cycle as scaling_cycle
from controlplane.decide.scaling.inputs import ModelMemory, ScalingMemory, ScalingSeen
from controlplane.decide.scaling.variants import variants
from controlplane.decide.spare.cycle import cycle as spare_cycle
from controlplane.decide.spare.inputs import SpareMemory, SpareSeen
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Standing
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.quantities import ModelName, NodeName, Zone
from tests.builders import A100, NOW, a_catalogue, a_class_load, a_load, a_model, a_replica

MODELS, NODES, PODS = 1_000, 2_000, 10_000


def a_large_fleet() -> tuple[Catalogue, ScalingSeen, ScalingMemory]:
    """Ten pods a model, eight devices a node, one model in ten under pressure."""
    names = [ModelName(f"model-{i:04d}") for i in range(MODELS)]
    catalogue = a_catalogue({name: a_model() for name in names}, a100_nodes=NODES)
    nodes = tuple(
        Node(name=NodeName(f"node-{i:04d}"), node_class=A100, zone=Zone(f"z{i % 3}"), devices=8)
        for i in range(NODES)
    )
    per_model = PODS // MODELS
    replicas = tuple(
        a_replica(
            f"{name}-{i}",
            model=name,
            node=NodeName(f"node-{(n * per_model + i) % NODES:04d}"),
        )
        for n, name in enumerate(names)
        for i in range(per_model)
    )
    calm, hot = a_class_load(900.0, wait=0.01), a_class_load(1_300.0, 40.0, turned_away=9.0)
    loads = {name: a_load(hot if n % 10 == 0 else calm, model=name) for n, name in enumerate(names)}
    memory = ScalingMemory(
        models={name: ModelMemory(target=8, split={A100: 8}, since=NOW - 900.0) for name in names}
    )
    view = FleetView(at=NOW, nodes=nodes, replicas=replicas)
    return catalogue, ScalingSeen(at=NOW, view=view, loads=loads), memory


def one_large_cycle() -> None:
    """Measure scaling, spare and placement once each, and how long the event loop stood still."""
    catalogue, seen, memory = a_large_fleet()
    table = variants(catalogue)
    standing = Standing(replicas=8, split={A100: 8}, since=0.0)
    plan = dict.fromkeys(catalogue.models, standing)

    def full_cycle() -> None:
        scaling_cycle(seen, catalogue, table, memory)
        spare_cycle(SpareSeen(at=NOW, view=seen.view, plan=plan), catalogue, table, SpareMemory())
        waiting = {name: {A100: 1} for name in list(catalogue.models)[:20]}
        placement_cycle(
            PlacementSeen(at=NOW, view=seen.view, plan=plan, waiting=waiting),
            catalogue,
            PlacementMemory(),
        )

    full_cycle()
    began = process_time()
    full_cycle()
    cpu = process_time() - began

    async def beside() -> float:
        worst = 0.0
        task = asyncio.ensure_future(asyncio.to_thread(full_cycle))
        while not task.done():
            before = perf_counter()
            await asyncio.sleep(0.001)
            worst = max(worst, perf_counter() - before - 0.001)
        return worst

    blocked = asyncio.run(beside())
    print(f"1,000 models, 2,000 nodes, 10,000 pods: {cpu:.2f} s of CPU (limit 2 s)")
    print(f"the event loop stood still for at most {blocked * 1000:.0f} ms (limit 50 ms)")


if __name__ == "__main__":
    one_large_cycle()
