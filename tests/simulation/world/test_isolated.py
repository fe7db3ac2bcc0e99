"""A model that people took out of traffic: its door refuses at once, and what came before ends."""

from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import ModelName
from controlplane.domain.queues import ModelQueue
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.samples import Zero
from controlplane.simulation.doors import Doors
from controlplane.simulation.world import World
from tests.simulation.world.fleets import CHAT, START, Row, a_world, pass_to

ROWS: list[Row] = [(second / 4, 0, 1.0) for second in range(400)]  # 4 a second, on 2 slots of 1 s


def seen(world: World) -> ModelQueue:
    return Doors(START).queues(world.stations, world.now)[CHAT]


def test_new_requests_are_refused_at_once_and_who_waits_is_served() -> None:
    world = a_world(ROWS)
    pass_to(world, 20.1)
    before = seen(world).classes[PRIORITIES[0]]
    world.shut({CHAT})
    pass_to(world, 80.1)

    high = seen(world).classes[PRIORITIES[0]]
    assert before.waiting > 0
    assert (high.waiting, high.in_flight) == (0, 0)
    assert high.counted.admitted == before.counted.admitted + before.waiting
    refused = high.counted.refused[ReasonCode.BREAKER_OPEN]
    assert refused == high.counted.arrived - before.counted.arrived == 240


def test_it_is_no_want_of_capacity_and_wakes_nobody() -> None:
    world = a_world(ROWS)
    pass_to(world, 2.0)
    world.shut({CHAT})
    world.loads()

    assert world.advance(START + 60.0) == START + 60.0
    assert isinstance(world.loads()[CHAT].classes[PRIORITIES[0]].turned_away, Zero)


def test_let_in_again_it_serves_as_before() -> None:
    world = a_world(ROWS)
    world.shut({CHAT})
    pass_to(world, 10.1)
    world.shut(set())
    pass_to(world, 20.1)

    high = seen(world).classes[PRIORITIES[0]].counted
    assert high.refused == {ReasonCode.BREAKER_OPEN: 41}  # those up to 10.0 s
    assert high.admitted > 0


def test_others_are_left_alone() -> None:
    world = a_world(ROWS)
    world.shut({ModelName("another")})
    pass_to(world, 10.1)

    assert seen(world).classes[PRIORITIES[0]].counted.refused == {}
