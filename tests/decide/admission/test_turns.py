"""Whose turn it is: reserve, guarantee, ageing, minimum service, caps, lending (A4b, A4c)."""

from controlplane.decide.admission.admission import Admission
from controlplane.decide.admission.capacity import Pool
from controlplane.decide.admission.verdicts import ADMITTED, ADMITTED_LENT, Ticket
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.reasons import ReasonCode
from tests.decide.admission.door import HIGH, LOW, MEDIUM, Door, names


def test_a_freed_slot_goes_to_the_highest_class_waiting() -> None:
    door = Door(AdmissionPolicy(reserve=0), slots=1)
    door.run(
        [(0.0, "busy", LOW), (0.1, "low", LOW), (0.2, "medium", MEDIUM), (0.3, "high", HIGH)],
        until=10.0,
    )

    assert names(door.started) == ["busy", "high", "medium", "low"]


def test_a4b_the_last_free_slot_is_kept_from_low_until_minimum_service_is_due() -> None:
    door = Door(AdmissionPolicy(reserve=1), slots=1)
    door.run([(3.0, "low", LOW)], until=17.9)
    assert door.started == []
    door.pass_time(18.0)

    assert [(s.name, s.started, s.code) for s in door.started] == [
        ("low", 18.0, ReasonCode.MINIMUM_SERVICE)
    ]


def test_a4b_without_a_reserve_low_takes_it() -> None:
    door = Door(AdmissionPolicy(reserve=0), slots=1)

    assert names(door.run([(3.0, "low", LOW)], until=3.0)) == ["low"]


def test_the_reserve_grows_with_the_replicas_and_others_may_use_it() -> None:
    door: Admission[str] = Admission(AdmissionPolicy(reserve=2))
    door.capacity(0.0, ready=3, slots=12)
    low = [door.offer(0.0, str(n), LOW) for n in range(12)]

    assert [verdict is ADMITTED for verdict in low] == [True] * 6 + [False] * 6
    assert [door.offer(0.0, "m", MEDIUM) for _ in range(6)] == [ADMITTED] * 6


def test_a4c_a_low_request_that_aged_takes_no_place_in_mediums_queue() -> None:
    policy = AdmissionPolicy(reserve=0, queue_bounds={Priority.MEDIUM: 2, Priority.LOW: 2})
    door = Door(policy, slots=1, service_s=1000.0)
    door.run([(0.0, "busy", HIGH), (1.0, "l1", LOW), (1.0, "l2", LOW), (20.0, "m1", MEDIUM)])
    door.run([(20.0, "m2", MEDIUM), (20.0, "m3", MEDIUM), (20.0, "l3", LOW)])

    assert [name for name, _ in door.refused] == ["m3", "l3"]
    assert door.admission.queued == [0, 2, 2]


def test_after_15_s_a_request_competes_one_class_higher_with_its_own_arrival_time() -> None:
    policy = AdmissionPolicy(reserve=0, minimum_service_s=None)
    door = Door(policy, slots=1, service_s=16.0)
    door.run(
        [(0.0, "busy", HIGH), (0.4, "older", MEDIUM), (0.5, "low", LOW), (20.0, "newer", MEDIUM)],
        until=60.0,
    )

    assert names(door.started) == ["busy", "older", "low", "newer"]
    assert door.started[2].code is ReasonCode.AGED


def test_a_request_rises_one_class_once_so_low_never_passes_high() -> None:
    policy = AdmissionPolicy(reserve=0, minimum_service_s=None)
    door = Door(policy, slots=1, service_s=40.0)
    door.run([(0.0, "busy", HIGH), (1.0, "low", LOW), (39.0, "high", HIGH)], until=90.0)

    assert names(door.started) == ["busy", "high", "low"]


def test_medium_that_aged_passes_high_that_came_later() -> None:
    policy = AdmissionPolicy(reserve=0, minimum_service_s=None)
    door = Door(policy, slots=1, service_s=20.0)
    door.run([(0.0, "busy", HIGH), (1.0, "medium", MEDIUM), (2.0, "high", HIGH)], until=50.0)

    assert names(door.started) == ["busy", "medium", "high"]


def test_minimum_service_takes_the_longest_waiting_of_any_class_once_in_15_s() -> None:
    policy = AdmissionPolicy(reserve=0, ageing_s=None)
    door = Door(policy, slots=1, service_s=4.0)
    high = [(0.1 * n, f"h{n}", HIGH) for n in range(10)]
    lows = [(1.0, "l1", LOW), (1.01, "l2", LOW)]
    door.run(sorted(high + lows), until=60.0)

    # Slots fall free every 4 s; low is due at 16, then the longest waiting again at 32.
    order = [(s.name, s.started) for s in door.started if s.code is ReasonCode.MINIMUM_SERVICE]
    assert order == [("h4", 16.0), ("h8", 32.0)]
    assert names(door.started)[-2:] == ["l1", "l2"]


def test_a_class_below_its_guarantee_comes_before_higher_ones() -> None:
    policy = AdmissionPolicy(reserve=1, guarantee={Priority.LOW: 0.5, Priority.MEDIUM: 0.25})
    door: Admission[str] = Admission(policy)
    door.capacity(0.0, ready=1, slots=4)
    for _ in range(4):
        door.offer(0.0, "high", HIGH)
    waiting = [
        door.offer(1.0, name, rank)
        for name, rank in (("l", LOW), ("l", LOW), ("l", LOW), ("m", MEDIUM), ("h", HIGH))
    ]
    got = [t for _ in range(4) for t in door.release(2.0, HIGH)]

    # medium up to 1 of 4, low up to 2 of 4 (even its reserve), then the highest class
    assert got == [waiting[3], waiting[0], waiting[1], waiting[4]]
    assert [t.code for t in got] == [ReasonCode.GUARANTEED] * 3 + [ReasonCode.ADMITTED]


def test_fixed_limits_are_hard_caps_however_many_slots_are_free() -> None:
    door: Admission[str] = Admission(AdmissionPolicy(limits="fixed", reserve=0))
    door.capacity(0.0, ready=4, slots=56)
    admitted = [
        sum(door.offer(0.0, "r", rank) is ADMITTED for _ in range(20))
        for rank in (HIGH, MEDIUM, LOW)
    ]

    assert admitted == [8, 4, 2]
    assert door.queued == [12, 16, 18]
    (next_low,) = door.release(1.0, LOW)
    assert next_low.rank == LOW


def test_under_fixed_limits_the_aged_may_use_the_cap_they_rose_to() -> None:
    door: Admission[str] = Admission(AdmissionPolicy(limits="fixed", minimum_service_s=None))
    door.capacity(0.0, ready=4, slots=56)
    for _ in range(3):
        door.offer(0.0, "low", LOW)
    assert list(door.poll(14.9)) == []

    assert [t.code for t in door.poll(15.0)] == [ReasonCode.AGED]


def test_lent_slots_are_for_low_alone_and_low_takes_them_first() -> None:
    door: Admission[str] = Admission(AdmissionPolicy(reserve=0))
    door.capacity(0.0, ready=1, slots=1, lent=1)

    assert door.offer(0.0, "l1", LOW) is ADMITTED_LENT
    assert door.offer(0.0, "h1", HIGH) is ADMITTED
    waits_high, waits_low = door.offer(0.0, "h2", HIGH), door.offer(0.0, "l2", LOW)
    assert isinstance(waits_high, Ticket)
    assert list(door.release(1.0, LOW, 1, Pool.LENT)) == [waits_low]
    assert list(door.release(2.0, HIGH)) == [waits_high]


def test_lent_slots_serve_low_though_nothing_is_in_service() -> None:
    door: Admission[str] = Admission(AdmissionPolicy())
    door.capacity(0.0, ready=0, slots=0, lent=2)

    assert door.offer(0.0, "low", LOW) is ADMITTED_LENT


def test_a_lender_that_is_promoted_brings_its_free_slots_while_its_low_work_goes_on() -> None:
    door: Admission[str] = Admission(AdmissionPolicy(reserve=0))
    door.capacity(0.0, ready=0, slots=0, lent=2)
    door.offer(0.0, "low", LOW)
    high = [door.offer(0.5, str(n), HIGH) for n in range(4)]
    door.rehome(LOW, 1, Pool.LENT, Pool.SERVING)

    assert list(door.capacity(1.0, ready=1, slots=4)) == high[:3]
    assert list(door.release(2.0, LOW)) == high[3:]
    assert (door.free, door.lent_free, door.in_flight) == (0, 0, [4, 0, 0])
