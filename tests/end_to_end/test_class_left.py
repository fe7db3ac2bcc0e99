"""A class leaves the fleet file while replicas serve on it: they move, and nobody is cut off."""

import asyncio
from dataclasses import replace

import pytest

from controlplane.domain.catalogue import Catalogue, Pool
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import Zone
from controlplane.simulation.arrivals import Arrivals, Poisson
from controlplane.simulation.service_times import Exponential, ServiceTime
from controlplane.simulation.streams import Stream, StreamTraffic
from controlplane.simulation.world import World, WorldSpec
from tests.builders import A100, CHAT, T4, a_catalogue, a_model, a_policy, a_variant
from tests.end_to_end.fleet import Daemon

pytestmark = pytest.mark.looptime

POLICY = a_policy(min=1, max=8)
WANTED = 4


def on_both() -> Catalogue:
    """A model of 10 GiB on T4 and A100; the T4 is cheaper."""
    both = {T4: a_variant(), A100: a_variant()}
    return a_catalogue({CHAT: a_model(10.0, on=both, policy=POLICY)}, a100_nodes=1, t4_nodes=2)


def without_t4(catalogue: Catalogue) -> Catalogue:
    """The file after somebody took the T4 out of it."""
    model = replace(catalogue.models[CHAT], variants={A100: a_variant()})
    return replace(
        catalogue,
        node_classes={A100: catalogue.node_classes[A100]},
        pools=catalogue.pools[:1],
        models={CHAT: model},
    )


def a_world(catalogue: Catalogue) -> World:
    """Load that four replicas can just carry."""
    stream = Stream(
        priority=Priority.HIGH,
        arrivals=Arrivals(poisson=Poisson(rate=350.0)),
        service=ServiceTime(exponential=Exponential(mean_s=0.125)),
    )
    traffic = {CHAT: StreamTraffic(CHAT, {"all": stream}, {}, 3, until=2_000.0)}
    spec = WorldSpec(
        catalogue=catalogue,
        start=0.0,
        initial={CHAT: {T4: WANTED}},
        image_cached=True,
        warm_up_request_s=0.0,
    )
    return World(spec, traffic, 3)


async def follow(daemon: Daemon, seconds: float) -> list[tuple[int, int]]:
    """Run so long; give (serving, serving on T4) every second."""
    running = asyncio.ensure_future(daemon.run(seconds))
    seen = []
    while not running.done():
        view = await daemon.cluster.observe()
        serving = [r for r in view.replicas if r.serving]
        seen.append((len(serving), sum(r.node_class == T4 for r in serving)))
        await asyncio.sleep(1.0)
    await running
    return seen


@pytest.mark.parametrize("a100", [4, 2, 0])
async def test_replicas_move_as_far_as_there_is_room_and_never_fewer_serve(a100: int) -> None:
    catalogue = on_both()
    pool = Pool(node_class=A100, zone=Zone("zone-a"), nodes=1, devices_per_node=max(1, a100))
    catalogue = replace(catalogue, pools=((pool,) if a100 else ()) + catalogue.pools[1:])
    world = a_world(catalogue)
    daemon = Daemon(world, catalogue)
    await daemon.run(60.0)

    after = without_t4(catalogue)
    daemon.fleet.swap(after)
    world.swap_catalogue(after)
    seen = await follow(daemon, 600.0)

    assert min(serving for serving, _ in seen) >= WANTED
    serving, on_t4 = seen[-1]
    assert on_t4 == max(0, serving - a100)
    pods = (await daemon.cluster.observe()).replicas
    assert sum(r.node_class == T4 for r in pods) == on_t4  # drained ones are deleted
    assert sum(r.node_class == A100 for r in pods) <= max(a100, 1)  # nothing waits in vain
