import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.queueing.percentiles import LogHistogram, quantile

WAITS = st.lists(st.one_of(st.just(0.0), st.floats(1e-5, 1e5)), min_size=1, max_size=200)
SHARES = st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0])


@given(WAITS, SHARES)
def test_every_quantile_is_within_one_per_cent(waits: list[float], share: float) -> None:
    assert LogHistogram(waits).quantile(share) == pytest.approx(quantile(waits, share), rel=0.0101)


@given(WAITS, WAITS, SHARES)
def test_merged_histograms_are_the_histogram_of_all(
    some: list[float], others: list[float], share: float
) -> None:
    merged = LogHistogram(some)
    merged.merge(LogHistogram(others))

    assert merged.quantile(share) == LogHistogram(some + others).quantile(share)
    assert merged.count == len(some) + len(others)


def test_a_percentile_of_nothing_is_no_number() -> None:
    assert LogHistogram().quantile(0.99) is None
    assert quantile([], 0.99) is None


def test_the_p99_of_a_hundred_is_the_ninety_ninth() -> None:
    assert quantile(range(1, 101), 0.99) == 99
    assert quantile([5.0], 0.99) == 5.0
    assert LogHistogram(range(1, 101)).quantile(0.99) == pytest.approx(99, rel=0.01)


def test_values_beyond_a_limit_are_counted() -> None:
    histogram = LogHistogram([0.0, 0.0, 0.05, 0.2, 0.3])

    assert histogram.above(0.1) == 2
    assert histogram.above(0.0) == 3


def test_buckets_are_ordered_with_zeros_first() -> None:
    histogram = LogHistogram([0.0, 2.0, 1.0, 1.0])

    assert list(histogram.buckets.values()) == [1, 2, 1]
    assert list(histogram.buckets) == pytest.approx([0.0, 1.0, 2.0], rel=0.02)
    assert 0.0 not in LogHistogram([1.0]).buckets
