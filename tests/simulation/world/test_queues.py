"""What the world says of its queues, against a front door that knows nothing of it."""

from collections import Counter

import pytest

from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.queues import ModelQueue
from controlplane.domain.reasons import ReasonCode
from controlplane.simulation.doors import Doors
from controlplane.simulation.world import World
from tests.decide.admission.door import Door
from tests.simulation.world.fleets import (
    CHAT,
    START,
    Rows,
    a_catalogue,
    a_model,
    a_world,
    pass_to,
    poisson,
)

POLICY = AdmissionPolicy(reserve=1)
CROWD = {0: 5.0, 1: 2.0, 2: 6.0}  # per second, on 8 slots of 1 s: low must age


def watched(seconds: float) -> tuple[ModelQueue, Door, list[tuple[float, int, float]]]:
    """Let a world and a front door of its own serve the same crowd; look every second."""
    rows = [(at, rank, 1.0) for at, rank, _ in poisson(3, seconds, CROWD, 1.0)]
    catalogue = a_catalogue({CHAT: a_model(POLICY, slots=4)})
    world: World = a_world(catalogue=catalogue, serving=2, traffic={CHAT: Rows(rows, 1000)})
    doors = Doors(world.now)
    for second in range(int(seconds) + 1):
        pass_to(world, second)
        doors.note(world.stations, world.now)
    door = Door(POLICY, slots=8, ready=2, service_s=1.0)
    door.run(((at, str(n), rank) for n, (at, rank, _) in enumerate(rows)), until=seconds)
    return doors.queues(world.stations, world.now)[CHAT], door, rows


def test_a_crowd_is_counted_as_an_independent_front_door_counts_it() -> None:
    queue, door, rows = watched(200.0)

    assert (queue.at, queue.since, queue.slots, queue.ready) == (START + 200.0, START, 8, 2)
    for rank, priority in enumerate(PRIORITIES):
        counted = queue.classes[priority].counted
        began = [seen for seen in door.started if seen.rank == rank]
        refused = Counter(v.code for name, v in door.refused if rows[int(name)][1] == rank)
        assert counted.arrived == sum(r == rank for _, r, _ in rows)
        assert counted.admitted == len(began)
        assert counted.refused == refused
        assert counted.aged == sum(seen.code is ReasonCode.AGED for seen in began)
        assert counted.minimum == sum(s.code is ReasonCode.MINIMUM_SERVICE for s in began)
    low = queue.classes[PRIORITIES[2]].counted
    assert low.aged > 0
    assert low.refused[ReasonCode.QUEUE_FULL] > 0


def test_who_waits_and_how_long_is_what_the_front_door_sees() -> None:
    queue, door, _ = watched(200.0)

    waits = {t.rank: 200.0 - t.arrived for t in door.admission.heads()}
    assert waits
    for rank, priority in enumerate(PRIORITIES):
        of_class = queue.classes[priority]
        assert of_class.waiting == door.admission.queued[rank]
        assert of_class.oldest_s == pytest.approx(waits.get(rank, 0.0))
        assert of_class.in_flight == door.admission.in_flight[rank]


def test_lately_is_the_last_minute() -> None:
    queue, door, rows = watched(200.0)

    assert queue.lately_s == 60.0
    for rank, priority in enumerate(PRIORITIES):
        lately = queue.classes[priority].lately
        assert lately.arrived == sum(r == rank and at > 140.0 for at, r, _ in rows)
        assert lately.admitted == sum(s.rank == rank and s.started > 140.0 for s in door.started)


def test_before_a_second_look_nothing_is_known_of_late() -> None:
    world = a_world(serving=1)
    pass_to(world, 5.0)

    (queue,) = Doors(world.now).queues(world.stations, world.now).values()

    assert queue.lately_s == 0.0
