"""From wish to replicas over time, worked by hand: stabilisation, rates, bounds."""

from collections.abc import Sequence

import pytest

from controlplane.simulation.peers.hpa_behavior import (
    Behavior,
    Bounds,
    HpaMemory,
    RatePolicy,
    Rules,
    first_sight,
    legacy,
    normalised,
    rescaled,
)

BOUNDS = Bounds(4, 12)


def walk(
    wishes: Sequence[tuple[float, int]],
    behavior: Behavior,
    bounds: Bounds = BOUNDS,
    current: int = 4,
) -> list[int]:
    """Sync at each moment with a wish; give the sizes it came to."""
    memory, sizes = first_sight(0.0, current), []
    for now, wish in wishes:
        to, memory = normalised(now, current, wish, bounds, behavior, memory)
        memory = rescaled(now, current, to, memory)
        current = to
        sizes.append(to)
    return sizes


def test_a_rise_is_limited_to_four_pods_or_double_per_15_s_and_then_by_the_bound() -> None:
    # 0 s: 4 + 4 = 8, 4 x 2 = 8. 10 s: 4 were added within 15 s, so the period began at 4: stay at
    # 8. 15 s: the rise at 0 s is exactly 15 s old and no longer counts: max(12, 16), bound 12.
    assert walk([(0, 20), (10, 20), (15, 20)], Behavior()) == [8, 8, 12]


def test_a_fall_waits_until_the_last_high_wish_is_300_s_old_and_then_goes_all_the_way() -> None:
    # The raw wish of 20 is remembered, not the 12 it came to. Its last one is of 15 s: at 300 s it
    # still holds, at 315 s it is exactly 300 s old and gone; 100 % may leave at once.
    wishes = [(0, 20), (15, 20), (30, 5), (300, 5), (315, 5)]

    assert walk(wishes, Behavior()) == [8, 12, 12, 12, 5]


def test_a_restart_does_not_scale_down_at_once() -> None:
    assert walk([(15, 4), (285, 4), (300, 4)], Behavior(), current=9) == [9, 9, 4]


@pytest.mark.parametrize(
    ("current", "expected"), [pytest.param(15, 12, id="above"), pytest.param(2, 4, id="below")]
)
def test_out_of_bounds_is_mended_at_once_whatever_is_wished(current: int, expected: int) -> None:
    assert walk([(0, 3)], Behavior(), current=current) == [expected]


def test_one_pod_a_minute_up_and_one_in_two_minutes_down() -> None:
    one_up = Rules(0, (RatePolicy("Pods", 1, 60),))
    one_down = Rules(0, (RatePolicy("Pods", 1, 120),))
    wishes = [(0, 9), (15, 9), (60, 9), (200, 4), (215, 4), (320, 4)]

    assert walk(wishes, Behavior(one_up, one_down)) == [5, 5, 6, 5, 5, 4]


def test_what_rose_within_the_period_may_leave_beside_the_limit() -> None:
    # At 75 s both rises are within 120 s: the period began at 6 - 2 = 4, so 4 - 1 = 3 would do.
    one_up = Rules(0, (RatePolicy("Pods", 1, 60),))
    one_down = Rules(0, (RatePolicy("Pods", 1, 120),))

    assert walk([(0, 9), (60, 9), (75, 4)], Behavior(one_up, one_down)) == [5, 6, 4]


def test_percentages_round_up_when_rising_and_truncate_when_falling() -> None:
    half = Rules(0, (RatePolicy("Percent", 50, 15),))
    # 5 x 1.5 = 7.5 -> 8; 8 x 0.5 = 4; 4 stays above the minimum of 1: 4 x 0.5 = 2
    wishes = [(0, 12), (60, 1), (120, 1)]

    assert walk(wishes, Behavior(half, half), Bounds(1, 12), current=5) == [8, 4, 2]


def test_select_min_takes_the_slower_policy_and_disabled_takes_none() -> None:
    both = (RatePolicy("Pods", 1, 15), RatePolicy("Percent", 100, 15))

    assert walk([(0, 12)], Behavior(up=Rules(0, both, "Min"))) == [5]
    assert walk([(0, 12)], Behavior(up=Rules(0, both, "Max"))) == [8]
    assert walk([(0, 12)], Behavior(up=Rules(0, both, "Disabled"))) == [4]


def test_an_up_window_takes_the_lowest_wish_within_it() -> None:
    patient = Behavior(up=Rules(60, (RatePolicy("Pods", 10, 15),)))

    # At 30 s the window of 60 s still holds the wish of 4 at first sight; at 60 s it has left.
    assert walk([(30, 9), (45, 8), (60, 10)], patient) == [4, 4, 8]


def test_without_behavior_a_rise_may_double_or_reach_four_and_a_fall_waits_300_s() -> None:
    memory = HpaMemory()
    to, memory = legacy(0, 1, 20, Bounds(1, 100), memory)
    assert to == 4
    to, memory = legacy(15, 4, 20, Bounds(1, 100), memory)
    assert to == 8
    to, memory = legacy(30, 8, 2, Bounds(1, 100), memory)
    assert to == 16  # the wish of 20 still stands, and doubling 8 gives 16
    to, memory = legacy(331, 16, 2, Bounds(1, 100), memory)
    assert to == 2
