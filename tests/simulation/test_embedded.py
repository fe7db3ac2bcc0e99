"""The embedded world behind the ports: it follows the clock and holds up nobody."""

import pytest

from controlplane.clock import Clock, stopwatch
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ModelName
from controlplane.simulation.arrivals import Arrivals, Poisson
from controlplane.simulation.embedded import SLICE_S, Embedded, embedded
from controlplane.simulation.service_times import Exponential, ServiceTime
from controlplane.simulation.streams import Stream, StreamTraffic
from controlplane.simulation.world import World, WorldSpec
from tests.builders import A100, CHAT, a_catalogue, a_model
from tests.turns import turns_of_others

LONG_S = 400.0
RATE = 400.0


def a_busy_world() -> World:
    stream = Stream(
        priority=Priority.HIGH,
        arrivals=Arrivals(poisson=Poisson(rate=RATE)),
        service=ServiceTime(exponential=Exponential(mean_s=0.05)),
    )
    traffic = {CHAT: StreamTraffic(CHAT, {"all": stream}, {}, 3, until=10 * LONG_S)}
    spec = WorldSpec(catalogue=a_catalogue(), start=0.0, initial={CHAT: {A100: 8}})
    return World(spec, traffic, 3)


async def test_a_look_at_a_world_that_is_far_behind_lets_others_have_their_turn() -> None:
    """At 60 times real time a pump that is late by a second is late by a minute."""
    clock = Clock(start=LONG_S)  # the world is at 0
    cluster = Embedded(a_busy_world(), clock)

    with turns_of_others() as turns:
        began = stopwatch()
        view = await cluster.observe()
        took = stopwatch() - began

    assert view.at >= LONG_S
    assert turns.got >= max(1, int(took / (10 * SLICE_S)))


async def test_looking_in_pieces_or_at_once_sees_the_same() -> None:
    whole, pieces = a_busy_world(), a_busy_world()
    whole.advance(LONG_S, wake=False)
    behind = Embedded(pieces, Clock(1e-9, start=LONG_S))

    await behind.loads()

    one, other = whole.tally(CHAT), pieces.tally(CHAT)
    assert pieces.now == pytest.approx(LONG_S)
    assert other.busy_slot_s == pytest.approx(one.busy_slot_s)
    for counted in ("arrived", "served", "in_time"):
        of_one, of_other = (getattr(t.classes[Priority.HIGH], counted) for t in (one, other))
        assert of_one == of_other > 0


@pytest.mark.parametrize("devices", [0, 1, 2, 3])
async def test_a_fleet_too_small_for_its_models_begins_with_the_important(devices: int) -> None:
    """Three models and fewer devices: the daemon starts, and who finds no room waits."""
    models = {
        ModelName(name): a_model(importance=importance)
        for name, importance in (("third", 9), ("first", 1), ("second", 5))
    }
    catalogue = a_catalogue(models, a100_nodes=devices, devices_per_node=1)

    view = await embedded(catalogue, Clock(start=0.0), 1).observe()

    assert {r.model for r in view.replicas} == set(("first", "second", "third")[:devices])
    assert all(r.serving for r in view.replicas)
