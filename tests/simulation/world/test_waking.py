"""`advance` stops early where a decider should look, once per look and kind."""

import pytest

from controlplane.domain.actions import SetReplicas, WarmUp
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.replicas import Lane
from controlplane.simulation.world import PodFails, World
from tests.simulation.world.fleets import (
    CHAT,
    GPU,
    IMAGE,
    START,
    Rows,
    a_catalogue,
    a_model,
    a_world,
    flip,
    replicas,
)

TIGHT = AdmissionPolicy(reserve=0, queue_bounds=dict.fromkeys(PRIORITIES, 0))
BURST = [(10.0 + 0.25 * n, 0, 100.0) for n in range(20)]  # two get a slot, the rest are refused


def wakes(world: World, until: float) -> list[float]:
    """Look whenever woken; give the seconds at which."""
    seconds: list[float] = []
    while True:
        reached = world.advance(START + until) - START
        if reached >= until:
            return seconds
        seconds.append(reached)
        world.observe()


def test_the_first_request_turned_away_wakes_at_once_and_then_at_most_every_second() -> None:
    world = a_world(BURST, catalogue=a_catalogue({CHAT: a_model(TIGHT)}))

    assert wakes(world, 60.0) == [10.5, 11.5, 12.5, 13.5, 14.5, 15.5]


def test_several_models_wake_at_the_very_same_moments() -> None:
    models = {CHAT: a_model(TIGHT), IMAGE: a_model()}
    # The other one has no replica: it queues, and turns nobody away.
    steady = [(1.0 * n, 0, 0.01) for n in range(50)]
    world = a_world(catalogue=a_catalogue(models), traffic={CHAT: Rows(BURST), IMAGE: Rows(steady)})

    assert wakes(world, 60.0) == [10.5, 11.5, 12.5, 13.5, 14.5, 15.5]


def test_a_refusal_within_a_second_of_the_last_look_wakes_when_the_second_is_over() -> None:
    world = a_world(BURST, catalogue=a_catalogue({CHAT: a_model(TIGHT)}))
    world.advance(START + 10.3)
    world.observe()

    assert world.advance(START + 60.0) == pytest.approx(START + 11.3)


def test_without_a_look_nobody_is_woken_twice_for_the_same_kind() -> None:
    world = a_world(BURST, catalogue=a_catalogue({CHAT: a_model(TIGHT)}))
    assert world.advance(START + 60.0) == START + 10.5

    assert world.advance(START + 60.0) == START + 60.0


def test_nobody_is_woken_who_does_not_want_to_be() -> None:
    world = a_world(BURST, catalogue=a_catalogue({CHAT: a_model(TIGHT)}))

    assert world.advance(START + 60.0, wake=False) == START + 60.0


def test_a_pods_way_up_wakes_when_it_is_healthy_and_when_it_is_warm() -> None:
    world = a_world()
    world.apply(SetReplicas(CHAT, GPU, 2))
    assert world.advance(START + 900.0) == START + 30.0
    world.observe()
    new = replicas(world)[1]
    assert (new.healthy, new.warmed_up) == (True, False)
    world.apply(WarmUp(new.name, 100))

    assert world.advance(START + 900.0) == pytest.approx(START + 30.0 + 125.25)
    assert replicas(world)[1].warmed_up


def test_a_drained_replica_wakes_when_its_last_request_ends() -> None:
    world = a_world([(0.0, 0, 50.0)], serving=2)
    world.advance(START + 5.0)
    flip(world, replicas(world)[0], Lane.DRAINING)

    assert world.advance(START + 900.0) == START + 50.0


def test_a_failed_and_an_unschedulable_pod_wake() -> None:
    world = a_world(
        catalogue=a_catalogue(nodes=1), serving=2, faults=(PodFails(START + 7.0, CHAT),)
    )
    assert world.advance(START + 900.0) == START + 7.0
    world.observe()
    world.apply(SetReplicas(CHAT, GPU, 3))

    assert world.advance(START + 900.0) == START + 7.0


def test_the_world_never_passes_the_moment_it_is_asked_for() -> None:
    world = a_world([(3.0, 0, 1.0)])
    moments = [world.advance(START + to) - START for to in (1.0, 1.0, 0.5, 3.0, 10.0)]

    assert moments == [1.0, 1.0, 1.0, 3.0, 10.0]
