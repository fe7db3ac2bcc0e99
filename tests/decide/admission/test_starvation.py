"""Endless load of higher classes, and low all the same (behaviours A4)."""

from collections.abc import Iterator
from heapq import merge
from itertools import count, pairwise, takewhile

import pytest

from controlplane.decide.admission.admission import Admission
from controlplane.decide.admission.verdicts import ADMITTED, Verdict
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.reasons import ReasonCode
from tests.decide.admission.door import HIGH, LOW, MEDIUM, Door, Seen

SLOTS = 14


def endless(
    rate: float, rank: int, until: float, first: float = 0.0
) -> Iterator[tuple[float, str, int]]:
    """Requests at even distances."""
    times = (first + n / rate for n in count())
    return ((at, f"{rank}", rank) for at in takewhile(lambda t: t <= until, times))


def waits_of(seen: list[Seen], rank: int) -> list[float]:
    return [s.wait for s in seen if s.rank == rank]


def test_a4_one_low_request_under_endless_high_is_served_by_15_s_and_one_service_time() -> None:
    door = Door(AdmissionPolicy(), SLOTS, service_s=0.5)
    high = endless(1.2 * SLOTS / 0.5, HIGH, until=40.0)
    door.run(merge([(0.5, "low", LOW)], high), until=40.0)
    (low,) = [s for s in door.started if s.rank == LOW]

    assert 15.0 <= low.wait <= 15.5
    assert low.code is ReasonCode.MINIMUM_SERVICE


def test_a4_the_rise_of_highs_waits_by_minimum_service_is_one_slot_every_15_s() -> None:
    """P99 of high with and without 200 low requests behind it, at 99 % of capacity."""

    def highs_p99(lows: int) -> float:
        door = Door(AdmissionPolicy(), SLOTS, service_s=0.5)
        high = endless(0.99 * SLOTS / 0.5, HIGH, until=120.0)
        door.run(merge([(1.0, "low", LOW)] * lows, high), until=120.0)
        waits = sorted(waits_of(door.started, HIGH))
        return waits[int(0.99 * len(waits))]

    # Of the 15 x 28 places in 15 s low gets what high leaves and one more: less than one service.
    assert highs_p99(200) - highs_p99(0) <= 0.5


def test_a4_of_200_low_requests_under_endless_high_one_leaves_every_15_s() -> None:
    door = Door(AdmissionPolicy(), SLOTS, service_s=0.5)
    high = endless(1.5 * SLOTS / 0.5, HIGH, until=160.0)
    door.run(merge([(1.0, "low", LOW)] * 200, high), until=160.0)
    starts = [s.started for s in door.started if s.rank == LOW]
    gaps = [later - earlier for earlier, later in pairwise(starts)]

    assert len(starts) == 10
    assert all(15.0 <= gap <= 15.5 for gap in gaps)


@pytest.mark.parametrize("slots", [14, 56])
def test_a4_with_high_at_60_and_medium_at_44_percent_lows_longest_wait_is_17_s(slots: int) -> None:
    """Where medium's 100 places are less than 15 s of its share, so that medium does not age."""
    capacity = slots / 0.125
    door = Door(AdmissionPolicy(reserve=1), slots, service_s=0.125)
    high = endless(0.60 * capacity, HIGH, until=80.0)
    medium = endless(0.44 * capacity, MEDIUM, until=80.0, first=0.001)
    low = endless(1.0, LOW, until=60.0, first=0.3)
    door.run(merge(high, medium, low), until=80.0)
    waits = waits_of(door.started, LOW)

    assert len(waits) == 60
    assert max(waits) <= 17.0


def test_ageing_alone_starves_low_under_endless_high() -> None:
    """Why there are two rules."""
    door = Door(AdmissionPolicy(minimum_service_s=None), SLOTS, service_s=0.5)
    high = endless(1.2 * SLOTS / 0.5, HIGH, until=100.0)
    door.run(merge([(0.5, "low", LOW)], high), until=100.0)

    assert waits_of(door.started, LOW) == []


def test_admitting_a_request_costs_no_allocation_when_nobody_waits() -> None:
    """The fast way gives one and the same verdict."""
    door: Admission[int] = Admission(AdmissionPolicy())
    door.capacity(0.0, ready=4, slots=56)
    for n in range(1000):
        verdict = door.offer(float(n), n, n % 3)
        assert isinstance(verdict, Verdict)
        assert verdict is ADMITTED
        assert door.release(n + 0.5, n % 3) == ()
