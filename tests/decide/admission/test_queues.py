"""Bounded queues, honest refusals, clients that leave (behaviours A1 to A3)."""

import pytest

from controlplane.decide.admission.admission import Admission
from controlplane.decide.admission.capacity import Pool
from controlplane.decide.admission.limits import Limits
from controlplane.decide.admission.verdicts import ADMITTED, Ticket, Verdict
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.reasons import ReasonCode
from tests.decide.admission.door import HIGH, LOW, MEDIUM, Door, names

PLAIN = AdmissionPolicy(reserve=0)


def a_door(policy: AdmissionPolicy = PLAIN, slots: int = 1, ready: int = 1) -> Admission[str]:
    admission: Admission[str] = Admission(policy)
    admission.capacity(0.0, ready=ready, slots=slots, service_s=1.0)
    return admission


def code_of(offered: Verdict | Ticket[str]) -> ReasonCode:
    return offered.code


def test_a_free_slot_is_taken_at_once_by_any_class() -> None:
    door = a_door(slots=3)

    assert [door.offer(0.0, r, k) for k, r in enumerate("hml")] == [ADMITTED] * 3
    assert (door.free, door.in_flight) == (0, [1, 1, 1])


def test_without_a_free_slot_a_request_queues() -> None:
    door = a_door()
    door.offer(0.0, "first", HIGH)

    assert code_of(door.offer(0.0, "second", HIGH)) is ReasonCode.QUEUED
    assert door.queued == [1, 0, 0]


def test_a1_no_endpoint_and_a_full_queue_is_503_with_its_reason() -> None:
    door = a_door(slots=0, ready=0)
    for n in range(50):
        assert code_of(door.offer(0.0, str(n), HIGH)) is ReasonCode.QUEUED
    refused = door.offer(0.0, "one more", HIGH)

    assert isinstance(refused, Verdict)
    assert (refused.status, refused.code) == (503, ReasonCode.NO_ENDPOINTS)


def test_a1_full_with_endpoints_is_429_and_says_when_to_come_again() -> None:
    door = a_door(slots=2)
    for n in range(52):
        door.offer(0.0, str(n), HIGH)
    refused = door.offer(0.0, "one more", HIGH)

    assert isinstance(refused, Verdict)
    assert (refused.status, refused.code) == (429, ReasonCode.QUEUE_FULL)
    # 50 before it and itself, two at a time, a second each: 25.5 s, rounded up
    assert refused.retry_after_s == 26


def test_a1_who_waited_too_long_gets_429() -> None:
    door = Door(AdmissionPolicy(reserve=0, max_wait_s={Priority.LOW: 5.0}), 1, service_s=60.0)
    door.run([(0.0, "busy", HIGH), (1.0, "waits", LOW)], until=5.9)
    assert door.refused == []
    door.pass_time(6.0)

    assert [(name, v.status, v.code) for name, v in door.refused] == [
        ("waits", 429, ReasonCode.WAITED_TOO_LONG)
    ]
    assert door.admission.waiting == 0


def test_waiting_too_long_where_nothing_serves_is_503() -> None:
    door = Door(AdmissionPolicy(max_wait_s={Priority.LOW: 5.0}), slots=0, ready=0)
    door.run([(1.0, "waits", LOW)], until=6.0)

    assert [(name, v.status) for name, v in door.refused] == [("waits", 503)]


def test_a3_the_51st_waiting_high_request_is_refused_until_one_leaves() -> None:
    door = a_door()
    door.offer(0.0, "busy", HIGH)
    tickets = [door.offer(0.0, str(n), HIGH) for n in range(50)]
    assert code_of(door.offer(0.0, "51st", HIGH)) is ReasonCode.QUEUE_FULL
    gone = tickets[17]
    assert isinstance(gone, Ticket)
    door.leave(0.0, gone)

    assert code_of(door.offer(0.0, "again", HIGH)) is ReasonCode.QUEUED


@pytest.mark.parametrize("stage", ["queued", "served", "ended"])
def test_a2_a_client_that_leaves_gives_back_what_it_held_and_leaving_twice_does_nothing(
    stage: str,
) -> None:
    door = a_door()
    door.offer(0.0, "busy", HIGH)
    ticket = door.offer(0.0, "leaves", MEDIUM)
    assert isinstance(ticket, Ticket)
    if stage != "queued":
        assert list(door.release(1.0, HIGH)) == [ticket]
    if stage == "ended":
        door.leave(2.0, ticket)
    door.leave(2.0, ticket)
    door.leave(2.0, ticket)
    if stage == "queued":
        door.release(3.0, HIGH)

    assert (door.free, door.in_flight, door.waiting) == (1, [0, 0, 0], 0)


def test_a2_a_slot_freed_by_a_client_that_left_goes_to_the_next() -> None:
    door = a_door()
    door.offer(0.0, "busy", HIGH)
    first, second = door.offer(0.0, "first", HIGH), door.offer(0.0, "second", HIGH)
    assert isinstance(first, Ticket)
    assert list(door.release(1.0, HIGH)) == [first]

    assert list(door.leave(1.5, first)) == [second]


def test_a_class_is_served_first_come_first_served() -> None:
    door = Door(PLAIN, slots=1)
    door.run([(0.1 * n, str(n), MEDIUM) for n in range(8)], until=20.0)

    assert names(door.started) == [str(n) for n in range(8)]


def test_bytes_of_the_waiting_are_bounded_per_class() -> None:
    door = a_door(AdmissionPolicy(reserve=0, queue_bytes=100))
    door.offer(0.0, "busy", HIGH)
    door.offer(0.0, "60", HIGH, size=60)

    assert code_of(door.offer(0.0, "41", HIGH, size=41)) is ReasonCode.QUEUE_BYTES_FULL
    assert code_of(door.offer(0.0, "40", HIGH, size=40)) is ReasonCode.QUEUED
    assert code_of(door.offer(0.0, "other class", LOW, size=100)) is ReasonCode.QUEUED


def test_a_prompt_over_the_limit_is_refused_for_what_it_is() -> None:
    door = a_door(AdmissionPolicy(prompt_limit=1000))
    refused = door.offer(0.0, "long", HIGH, prompt_tokens=1001)

    assert isinstance(refused, Verdict)
    assert (refused.status, refused.code) == (400, ReasonCode.PROMPT_TOO_LONG)
    assert refused.retry_after_s is None
    assert door.offer(0.0, "fits", HIGH, prompt_tokens=1000) is ADMITTED


def test_a_request_weighs_by_its_tokens_and_gathers_its_slots_unpassed() -> None:
    door = a_door(AdmissionPolicy(reserve=0, tokens_per_slot=1000), slots=4)
    assert [door.limits.weigh(p, 500) for p in (0, 500, 501, 3000)] == [1, 1, 2, 4]
    for n in range(3):
        door.offer(0.0, str(n), HIGH)
    heavy = door.offer(0.0, "heavy", HIGH, weight=3)
    light = door.offer(0.0, "light", LOW)
    assert code_of(heavy) is code_of(light) is ReasonCode.QUEUED  # one slot is free, kept for it
    assert list(door.release(1.0, HIGH)) == []

    assert list(door.release(2.0, HIGH)) == [heavy]
    assert (door.free, door.in_flight) == (0, [4, 0, 0])
    assert list(door.leave(3.0, heavy)) == [light]  # type: ignore[arg-type]  # it is a ticket


def test_a_request_heavier_than_a_replica_is_refused() -> None:
    door = a_door(slots=8, ready=2)

    assert code_of(door.offer(0.0, "5 of 4", HIGH, weight=5)) is ReasonCode.TOO_HEAVY


def test_nothing_is_released_while_an_engine_reports_its_own_queue() -> None:
    door = a_door(slots=2)
    door.hold(0.0, on=True)
    waits = door.offer(0.0, "waits", HIGH)
    assert code_of(waits) is ReasonCode.QUEUED
    assert list(door.poll(1.0)) == []

    assert list(door.hold(2.0, on=False)) == [waits]


def test_one_queue_without_classes_serves_in_order_of_arrival_and_refuses_nobody() -> None:
    door = Door(AdmissionPolicy(single_queue=True), slots=1)
    arrivals = [(0.001 * n, str(n), (LOW, HIGH, MEDIUM)[n % 3]) for n in range(400)]
    door.run(arrivals, until=500.0)

    assert names(door.started) == [str(n) for n in range(400)]
    assert door.refused == []


def test_capacity_that_comes_is_handed_out_and_capacity_that_goes_is_not_taken_from_who_runs() -> (
    None
):
    door = a_door(slots=0, ready=0)
    tickets = [door.offer(0.0, str(n), HIGH) for n in range(3)]

    assert list(door.capacity(1.0, ready=1, slots=2)) == tickets[:2]
    assert list(door.capacity(2.0, ready=1, slots=1)) == []
    assert door.free == -1
    assert list(door.release(3.0, HIGH)) == []
    assert list(door.release(4.0, HIGH)) == tickets[2:]


def test_a_request_on_a_draining_replica_holds_no_slot_of_those_in_service() -> None:
    door = a_door(slots=4, ready=2)
    for n in range(4):
        door.offer(0.0, str(n), HIGH)
    waits = door.offer(0.0, "waits", HIGH)
    door.rehome(HIGH, 1, Pool.SERVING, Pool.OUTSIDE)
    door.rehome(HIGH, 1, Pool.SERVING, Pool.OUTSIDE)
    assert list(door.capacity(1.0, ready=1, slots=2)) == []
    door.release(2.0, HIGH, 1, Pool.OUTSIDE)  # ends there: nobody gains by it

    assert (door.free, door.in_flight) == (0, [2, 0, 0])
    assert list(door.release(3.0, HIGH)) == [waits]


def test_a_new_policy_keeps_who_waits_and_who_runs() -> None:
    door = a_door(AdmissionPolicy(reserve=1), slots=2)
    door.offer(0.0, "a", LOW)
    waits = door.offer(0.0, "b", LOW)
    assert code_of(waits) is ReasonCode.QUEUED

    assert list(door.revise(1.0, AdmissionPolicy(reserve=0))) == [waits]
    assert door.in_flight == [0, 0, 2]


@pytest.mark.parametrize("single", [False, True], ids=["a queue a class", "one queue for all"])
def test_the_longest_waiting_of_each_class_are_named(single: bool) -> None:
    door = a_door(AdmissionPolicy(reserve=0, single_queue=single))
    door.offer(0.0, "runs", HIGH)
    for at, name, rank in (
        (1.0, "m", MEDIUM),
        (2.0, "m2", MEDIUM),
        (3.0, "l", LOW),
        (4.0, "h", HIGH),
    ):
        door.offer(at, name, rank)

    assert sorted(ticket.request for ticket in door.heads()) == ["h", "l", "m"]


@pytest.mark.parametrize(
    ("policy", "most"),
    [
        (AdmissionPolicy(reserve=1), (16, 16, 18)),
        (AdmissionPolicy(reserve=9), (16, 16, 4)),
        (AdmissionPolicy(reserve=1, limits="fixed"), (8, 4, 4)),
        (AdmissionPolicy(reserve=1, single_queue=True), (16, 16, 20)),
    ],
    ids=["scaled", "all kept", "fixed", "one queue"],
)
def test_a_class_fills_the_slots_it_is_said_to_have_and_no_more(
    policy: AdmissionPolicy, most: tuple[int, int, int]
) -> None:
    """16 slots on 2 replicas in service, 4 more lent to low."""
    said = Limits.of(policy)
    for rank in (HIGH, MEDIUM, LOW):
        door: Admission[str] = Admission(policy)
        door.capacity(0.0, ready=2, slots=16, lent=4)
        for n in range(40):
            door.offer(0.0, str(n), rank)

        assert said.most(rank, slots=16, lent=4, ready=2) == most[rank]
        assert door.in_flight[rank] == most[rank]


def test_a_door_whose_part_is_nothing_just_now_lets_wait_and_refuses_as_a_busy_one() -> None:
    door = a_door(AdmissionPolicy(reserve=0, queue_bounds={Priority.LOW: 1}))
    door.capacity(0.0, ready=2, slots=0, largest=4)

    assert code_of(door.offer(0.0, "light", LOW)) is ReasonCode.QUEUED
    full = door.offer(0.0, "behind", LOW)
    assert isinstance(full, Verdict)
    assert (full.code, full.status) == (ReasonCode.QUEUE_FULL, 429)
    assert code_of(door.offer(0.0, "heavier than a replica", HIGH, weight=5)) is (
        ReasonCode.TOO_HEAVY
    )
