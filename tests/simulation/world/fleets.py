"""Small worlds for tests: one or two models, round figures, traffic given as rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from controlplane.domain.actions import SetLane, SetReplicas, WarmUp
from controlplane.domain.catalogue import (
    Catalogue,
    KvCache,
    Model,
    Need,
    NodeClass,
    Pool,
    Runtime,
    Variant,
)
from controlplane.domain.policies import AdmissionPolicy, ModelPolicy, Objective
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ClassName, ModelName, ReplicaName, Team, Zone
from controlplane.domain.replicas import Lane, Replica
from controlplane.simulation.traffic import Chunk, Traffic
from controlplane.simulation.world import World, WorldSpec

START = 1_000_000.0
GPU = ClassName("GPU")
CHAT, IMAGE = ModelName("chat"), ModelName("image")
CUDA = Runtime(kind="cuda", version="12.4")
HIGH, MEDIUM, LOW = 0, 1, 2

Row = tuple[float, int, float]  # at, rank, service


@dataclass(frozen=True)
class Rows:
    """Traffic from rows, `size` of them a chunk; prompts by row where given."""

    rows: Sequence[Row]
    size: int = 1000
    prompts: Sequence[int] | None = None

    def chunks(self) -> Iterator[Chunk]:
        for first in range(0, len(self.rows), self.size):
            at, rank, service = zip(*self.rows[first : first + self.size], strict=True)
            prompts = self.prompts[first : first + self.size] if self.prompts else None
            yield Chunk(
                np.array(at, float),
                np.array(rank, np.int8),
                np.array(service, float),
                None if prompts is None else np.array(prompts, np.int32),
            )


def poisson(seed: int, seconds: float, rates: Mapping[int, float], mean_s: float) -> list[Row]:
    """Poisson arrivals by rank with exponential service."""
    chance = np.random.default_rng(seed)
    rows = []
    for rank, rate in rates.items():
        arrivals = np.sort(chance.uniform(0, seconds, chance.poisson(rate * seconds)))
        rows += [(float(at), rank, float(chance.exponential(mean_s))) for at in arrivals]
    return sorted(rows)


def a_variant(**given: Any) -> Variant:
    figures: dict[str, Any] = {
        "image": "registry/chat",
        "runtime": CUDA,
        "slots": 2,
        "service_s": 1.0,
        "load_s": 30.0,
        "promote_s": 2.0,
        "image_gib": 15.0,
    }
    return Variant(**figures | given)


def a_model(
    admission: AdmissionPolicy | None = None, kv: KvCache | None = None, **variant: Any
) -> Model:
    return Model(
        team=Team("chat"),
        need=Need(vram_gib=None if kv else 60.0, weights_gib=50.0 if kv else None, kv=kv),
        variants={GPU: a_variant(**variant)},
        policy=ModelPolicy(
            objectives={Priority.HIGH: Objective(wait_p99_s=0.1)},
            admission=admission or AdmissionPolicy(reserve=0),
        ),
    )


def a_catalogue(
    models: Mapping[ModelName, Model] | None = None, zones: Sequence[str] = ("z1",), nodes: int = 2
) -> Catalogue:
    gpu = NodeClass(
        vendor="nvidia",
        resource="nvidia.com/gpu",
        vram_gib=80.0,
        price_per_hour=Decimal(2),
        runtime=CUDA,
    )
    return Catalogue(
        node_classes={GPU: gpu},
        pools=tuple(
            Pool(node_class=GPU, zone=Zone(z), nodes=nodes, devices_per_node=2) for z in zones
        ),
        models=models or {CHAT: a_model()},
    )


def a_world(
    rows: Sequence[Row] = (),
    catalogue: Catalogue | None = None,
    serving: int = 1,
    traffic: Mapping[ModelName, Traffic] | None = None,
    **spec: Any,
) -> World:
    """A world whose first model gets the rows."""
    catalogue = catalogue or a_catalogue()
    first = next(iter(catalogue.models))
    return World(
        WorldSpec(
            catalogue=catalogue,
            start=START,
            initial={first: {GPU: serving}} if serving else {},
            **{"image_cached": True} | spec,
        ),
        traffic if traffic is not None else {first: Rows(rows)},
        seed=7,
    )


def pass_to(world: World, second: float) -> None:
    """Let the world go on without waking anybody."""
    world.advance(START + second, wake=False)


def replicas(world: World, model: ModelName = CHAT) -> list[Replica]:
    return [r for r in world.view().replicas if r.model == model]


def named(world: World, name: ReplicaName) -> Replica:
    (replica,) = [r for r in world.view().replicas if r.name == name]
    return replica


def flip(world: World, replica: Replica, lane: Lane) -> None:
    outcome = world.apply(SetLane(replica.name, lane, replica.version))
    assert outcome.ending == "done", outcome.note


def bring_up(world: World, count: int, at: float) -> list[Replica]:
    """Create, wait, warm up and put into service; give those that are new."""
    before = {r.name for r in replicas(world)}
    world.apply(SetReplicas(CHAT, GPU, len(before) + count))
    new = [r.name for r in replicas(world) if r.name not in before]
    pass_to(world, at)
    for name in new:
        world.apply(WarmUp(name, 100))
    pass_to(world, at + 300.0)
    for name in new:
        flip(world, named(world, name), Lane.SERVING)
    return [named(world, name) for name in new]
