import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.queueing.windows import Coverage, Highest, Mark, counter_rate, kept, rate


@given(
    st.lists(st.tuples(st.floats(0.1, 30), st.integers(0, 9)), min_size=1, max_size=60),
    st.floats(1, 120),
)
def test_the_highest_is_the_highest_within_the_window_at_any_pace(
    looks: list[tuple[float, int]], span: float
) -> None:
    now, seen, window = 0.0, [], Highest()
    for pause, x in looks:
        now += pause
        seen.append((now, x))
        window = window.seeing(now, x, span)
        assert window.value(now, span) == max(x for at, x in seen if at >= now - span)


def test_a_window_says_when_its_highest_leaves() -> None:
    window = Highest().seeing(0.0, 6, 120).seeing(5.0, 4, 120).seeing(10.0, 4, 120)

    assert window.value(10.0, 120) == 6
    assert window.until(10.0, 120, below=5) == 120.0
    assert window.until(10.0, 120, below=4) == 130.0
    assert window.until(10.0, 120, below=7) is None
    assert window.value(121.0, 120) == 4
    assert window.value(500.0, 120) is None


def test_a_window_survives_the_store() -> None:
    window = Highest().seeing(0.0, 6, 120).seeing(5.0, 4, 120)
    stored = msgspec.json.encode(window)

    assert msgspec.json.decode(stored, type=Highest) == window


def test_coverage_is_the_share_of_time_something_was_known() -> None:
    coverage = Coverage()
    for at in range(0, 121, 5):
        coverage = coverage.seeing(at, 120, 15, known=not 40 < at < 70)

    # known up to 40 s and again from 70 s on: the 30 s between speak for nothing
    assert coverage.share(120, 120) == pytest.approx(90 / 120)


def test_a_loop_that_slips_is_still_covered_and_a_silent_one_is_not() -> None:
    slipping = Coverage()
    for at in (0, 7, 19, 31, 44, 58, 60):
        slipping = slipping.seeing(at, 60, 15, known=True)
    silent = Coverage().seeing(0, 60, 15, known=True).seeing(60, 60, 15, known=True)

    assert slipping.share(60, 60) == 1.0
    assert silent.share(60, 60) == 0.0
    assert silent.share(60, 0) == 1.0


def test_after_a_restart_the_window_is_not_covered() -> None:
    assert Coverage().share(1000.0, 120) == 0.0
    assert Coverage().seeing(1000.0, 120, 15, known=True).share(1000.0, 120) == 0.0


def test_a_rate_counts_what_lies_within_the_window() -> None:
    events = [Mark(0, 100), Mark(10, 5), Mark(20, 5)]

    assert rate(events, now=20, span_s=20) == 0.5
    assert kept(events, now=20, span_s=15) == (Mark(10, 5), Mark(20, 5))


def test_a_counter_that_restarts_begins_again_at_zero() -> None:
    readings = [Mark(0, 90), Mark(10, 100), Mark(20, 4), Mark(30, 14)]

    assert counter_rate(readings, now=30, span_s=60) == pytest.approx((10 + 4 + 10) / 30)


def test_a_missing_reading_does_not_lower_the_rate() -> None:
    assert counter_rate([Mark(0, 0), Mark(40, 80)], now=60, span_s=60) == 2.0


@pytest.mark.parametrize("readings", [[], [Mark(5, 1)], [Mark(5, 1), Mark(5, 3)]])
def test_one_reading_has_no_rate(readings: list[Mark]) -> None:
    assert counter_rate(readings, now=10, span_s=60) is None
