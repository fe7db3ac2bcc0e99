"""Knative's autoscaler, worked by hand. 14 slots at 70 % give a target of 9.8 a pod."""

import pytest

from controlplane.simulation.peers.kpa_scale import (
    KpaMemory,
    KpaSpec,
    Wanted,
    desired,
    first_tick,
    wanted,
)
from controlplane.simulation.peers.kpa_window import ConcurrencyWindow

SPEC = KpaSpec(concurrency=14)


@pytest.mark.parametrize(
    ("ready", "stable_average", "panic_average", "expected"),
    [
        # ceil(60 / 9.8 = 6.12) = 7 both; 7 / 4 = 1.75 is below 2
        pytest.param(4, 60, 60, Wanted(7, 7, over=False), id="a steady rise is no panic"),
        # ceil(4.08) = 5, ceil(10.2) = 11; 11 / 4 = 2.75
        pytest.param(4, 40, 100, Wanted(5, 11, over=True), id="a surge is"),
        # ceil(7.8 / 9.8) = 1 but at most half may leave: floor(10 / 2) = 5
        pytest.param(10, 7.8, 7.8, Wanted(5, 5, over=False), id="at most half may leave"),
        # no pod is ready: counted as one; 2 / 1 is over
        pytest.param(0, 19, 19, Wanted(2, 2, over=True), id="no pod ready counts as one"),
        pytest.param(1, 0, 0, Wanted(0, 0, over=False), id="no load asks for none"),
    ],
)
def test_two_windows_ask_for(
    ready: int, stable_average: float, panic_average: float, expected: Wanted
) -> None:
    assert wanted(ready, stable_average, panic_average, SPEC) == expected


def test_in_panic_it_never_falls_and_leaves_after_a_stable_window_without_surge() -> None:
    memory = KpaMemory()
    sizes = []
    for now, asked in [
        (0, Wanted(5, 11, over=True)),  # panic begins
        (10, Wanted(6, 3, over=False)),  # the surge is over, 11 stays
        (20, Wanted(13, 4, over=False)),  # the stable window asks for more: so much
        (60, Wanted(4, 2, over=False)),  # 60 s after the surge is not yet beyond the window
        (62, Wanted(6, 2, over=False)),  # now it is: what the stable window asks for
    ]:
        to, memory = desired(float(now), asked, SPEC, memory)
        sizes.append(to)

    assert sizes == [11, 11, 13, 13, 6]
    assert memory == KpaMemory()


def test_another_surge_prolongs_the_panic() -> None:
    memory = KpaMemory()
    _, memory = desired(0.0, Wanted(5, 11, over=True), SPEC, memory)
    _, memory = desired(40.0, Wanted(5, 12, over=True), SPEC, memory)
    to, memory = desired(90.0, Wanted(3, 3, over=False), SPEC, memory)

    assert (to, memory.panic_since) == (12, 40.0)


def test_a_restart_with_several_pods_begins_in_panic_at_their_number() -> None:
    memory = first_tick(0.0, ready=6)

    assert desired(2.0, Wanted(1, 1, over=False), SPEC, memory)[0] == 6
    assert first_tick(0.0, ready=1) == KpaMemory()


def test_an_activation_scale_lifts_what_is_wanted_but_not_nothing() -> None:
    spec = KpaSpec(concurrency=14, activation_scale=3)

    assert wanted(1, 5, 5, spec) == Wanted(3, 3, over=False)
    assert wanted(1, 0, 0, spec) == Wanted(0, 0, over=False)


def window(*writes: tuple[float, float], length_s: float = 60.0) -> ConcurrencyWindow:
    made = ConcurrencyWindow(length_s)
    for at, seen in writes:
        made.record(at, seen)
    return made


def test_a_window_that_is_not_full_is_averaged_over_what_it_has() -> None:
    assert window((0, 10), (1, 20), (2, 30)).average(2) == 20


def test_a_gap_counts_as_nothing() -> None:
    assert window((0, 12), (2, 12)).average(2) == 8


def test_a_full_window_forgets_what_left_it() -> None:
    full = window(*((second, float(second)) for second in range(10)), length_s=6)

    assert full.average(9) == (4 + 5 + 6 + 7 + 8 + 9) / 6


def test_silence_shortens_the_window_and_a_whole_window_of_it_is_nothing() -> None:
    steady = window(*((second, 7.0) for second in range(60)))

    assert steady.average(69) == 7  # the 50 buckets that are left
    assert steady.average(59 + 60) == 0
    assert window().average(5) is None


def test_after_a_window_of_silence_the_average_begins_anew() -> None:
    again = window(*((second, 7.0) for second in range(60)), (200, 30.0))

    assert again.average(200) == 30


def test_readings_of_one_second_add_up_and_averages_are_cut_to_six_digits() -> None:
    assert window((0.2, 1.0), (0.7, 1.0), (1.0, 0.0), (2.0, 0.0)).average(2.5) == 0.666666
