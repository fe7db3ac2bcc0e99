"""1,000 models x 2,000 nodes x 10,000 pods: matching, and one cycle of relocation; CPU time."""

from itertools import cycle as cycled
from itertools import islice
from time import process_time

from msgspec.json import encode

from controlplane.decide.placement.matching import match
from controlplane.decide.placement.relocate import PlacementMemory, PlacementSeen, cycle
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Standing
from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.replicas import Replica
from tests.decide.placement.fleets import CLASSES, T4, catalogue, model, node, replica

MODELS, NODES, PODS, WAITING = 1_000, 2_000, 10_000, 20
SIZES = (2, 8, 14, 24, 40, 60, 100, 180)


def a_fleet() -> tuple[Catalogue, PlacementSeen]:
    """Make a fleet whose nodes carry five single-device replicas each; only T4s have room."""
    made = {
        f"m{i:04}": model(SIZES[i % len(SIZES)], tensor_parallel=(1, 2, 4)) for i in range(MODELS)
    }
    classes = sorted(CLASSES)
    nodes = tuple(
        node(f"n{i:04}", name, 6 if name == T4 else 5)
        for i, name in enumerate(islice(cycled(classes), NODES))
    )
    small = [name for i, name in enumerate(made) if SIZES[i % len(SIZES)] <= 14]
    pods: list[Replica] = []
    split: dict[str, dict[ClassName, int]] = {}
    for i in range(PODS):
        on, of = nodes[i // 5], small[i % len(small)]
        pods.append(replica(f"p{i}", of, on.node_class, on.name))
        of_model = split.setdefault(of, {})
        of_model[on.node_class] = of_model.get(on.node_class, 0) + 1
    plan = {
        ModelName(name): Standing(replicas=sum(by.values()), split=by, since=0.0)
        for name, by in split.items()
    }
    big = [name for i, name in enumerate(made) if SIZES[i % len(SIZES)] == 60][:WAITING]
    view = FleetView(at=0.0, nodes=nodes, replicas=tuple(pods))
    waiting = {ModelName(name): {ClassName("A100-80G"): 1} for name in big}
    return catalogue(made), PlacementSeen(at=0.0, view=view, plan=plan, waiting=waiting)


def main() -> None:
    """Measure both."""
    fleet, seen = a_fleet()
    began = process_time()
    for name, of in fleet.models.items():
        match(name, of, fleet)
    print(f"matching {MODELS} models x {len(CLASSES)} classes: {process_time() - began:.3f} s")
    began = process_time()
    choices, memory = cycle(seen, fleet, PlacementMemory())
    took = process_time() - began
    print(
        f"relocation, {NODES} nodes, {PODS} pods, {WAITING} waiting, {len(memory.moves)} moved: "
        f"{took:.3f} s (limit 2 s)"
    )
    largest = max(len(encode(choice.seen)) for choice in choices)
    print(f"largest stored input: {largest / 1024:.1f} KiB")


if __name__ == "__main__":
    main()
