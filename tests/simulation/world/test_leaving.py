"""What leaves the catalogue while it runs: pods stay what they are until they are sized away."""

from dataclasses import replace
from decimal import Decimal

from controlplane.domain.actions import SetLane, SetReplicas
from controlplane.domain.catalogue import Catalogue, NodeClass, Pool
from controlplane.domain.decisions import Ending
from controlplane.domain.quantities import ClassName, Zone
from controlplane.domain.replicas import Lane
from controlplane.simulation.world.faults import PodFails
from tests.simulation.world.fleets import (
    CHAT,
    CUDA,
    GPU,
    a_catalogue,
    a_model,
    a_variant,
    a_world,
    pass_to,
    replicas,
)

NEW = ClassName("NEW")


def a_fleet() -> Catalogue:
    """Two classes; the model may run on both."""
    catalogue = a_catalogue(
        {CHAT: replace(a_model(), variants={GPU: a_variant(), NEW: a_variant()})}
    )
    new = NodeClass(
        vendor="nvidia",
        resource="nvidia.com/gpu",
        vram_gib=80.0,
        price_per_hour=Decimal(3),
        runtime=CUDA,
    )
    pool = Pool(node_class=NEW, zone=Zone("z1"), nodes=2, devices_per_node=2)
    return replace(
        catalogue,
        node_classes={**catalogue.node_classes, NEW: new},
        pools=(*catalogue.pools, pool),
    )


def without_gpu(catalogue: Catalogue) -> Catalogue:
    """The class, its pool and its variants are gone from the file; the machines are not."""
    return replace(
        catalogue,
        node_classes={NEW: catalogue.node_classes[NEW]},
        pools=tuple(pool for pool in catalogue.pools if pool.node_class == NEW),
        models={
            name: replace(model, variants={NEW: model.variants[NEW]})
            for name, model in catalogue.models.items()
        },
    )


def test_replicas_of_a_variant_that_left_serve_on_and_can_be_drained_and_deleted() -> None:
    world = a_world(catalogue=a_fleet(), serving=3)
    world.swap_catalogue(without_gpu(a_fleet()))
    assert [r.lane for r in replicas(world)] == [Lane.SERVING] * 3

    victim = replicas(world)[1]
    world.apply(SetLane(victim.name, Lane.DRAINING, victim.version))
    outcome = world.apply(SetReplicas(CHAT, GPU, 2, (victim.name,)))

    assert outcome.ending is Ending.DONE, outcome.note
    assert victim.name not in {r.name for r in replicas(world)}
    assert len(replicas(world)) == 2


def test_a_variant_that_left_cannot_grow() -> None:
    world = a_world(catalogue=a_fleet(), serving=2)
    world.swap_catalogue(without_gpu(a_fleet()))

    outcome = world.apply(SetReplicas(CHAT, GPU, 3))

    assert outcome.ending is Ending.REFUSED
    assert outcome.note == "chat has no variant on GPU"
    assert len(replicas(world)) == 2


def test_a_failed_pod_of_a_variant_that_left_is_made_again_from_its_template() -> None:
    """A Deployment knows nothing of our catalogue."""
    world = a_world(catalogue=a_fleet(), serving=2)
    world.swap_catalogue(without_gpu(a_fleet()))

    world.inflict(PodFails(at=world.now, model=CHAT))
    pass_to(world, 120.0)

    assert sorted(r.lane for r in replicas(world)) == [Lane.LOADING, Lane.SERVING]


def test_a_model_that_left_is_gone_and_may_come_back() -> None:
    catalogue = a_fleet()
    other = {"other": a_model()}
    world = a_world(catalogue=catalogue, serving=2)

    world.swap_catalogue(replace(catalogue, models=other))  # type: ignore[arg-type]  # plain names
    assert not replicas(world)
    world.swap_catalogue(catalogue)
    world.apply(SetReplicas(CHAT, GPU, 1))
    pass_to(world, 60.0)

    assert [r.healthy for r in replicas(world)] == [True]
