"""P99 from buckets, against the very observations that fell into them."""

import math
from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.adapters.engines.percentile import p99
from controlplane.domain.samples import IDLE, Absence, NoData, Value
from controlplane.emulation.faces.vllm import FIRST_TOKEN_S, LATENCY_S

NOW = 1_000.0


def buckets(observed: list[float], bounds: tuple[float, ...]) -> dict[float, float]:
    counts: dict[float, float] = {}
    for x in observed:
        bound = (*bounds, math.inf)[bisect_left(bounds, x)]
        counts[bound] = counts.get(bound, 0.0) + 1
    return counts


def exact(observed: list[float]) -> float:
    return sorted(observed)[math.ceil(0.99 * len(observed)) - 1]


def test_without_requests_it_is_idle() -> None:
    assert p99({}, 0.0, None, NOW) == p99({0.3: 0.0}, 0.0, 1.0, NOW) == IDLE


@given(st.lists(st.floats(0.001, 2000.0), min_size=1, max_size=400))
def test_it_lies_in_the_bucket_of_the_exact_one(observed: list[float]) -> None:
    found = p99(buckets(observed, FIRST_TOKEN_S), sum(observed), None, NOW)

    place = bisect_left(FIRST_TOKEN_S, exact(observed))
    lower = FIRST_TOKEN_S[place - 1] if place else 0.0
    assert found.x is not None
    assert lower - 1e-9 <= found.x <= FIRST_TOKEN_S[place] + 1e-9


def test_within_a_bucket_requests_are_taken_as_evenly_spread() -> None:
    # 98 below 1 s, 2 between 1 and 2 s: rank 99 is half of the way through the two.
    found = p99({1.0: 98.0, 2.0: 2.0}, 60.0, None, NOW)

    assert found == Value(1.5, NOW)


def test_beyond_the_last_bound_it_is_at_least_that() -> None:
    assert p99({7680.0: 1.0, math.inf: 99.0}, 1e6, 10.0, NOW) == Value(7680.0, NOW)


def test_a_limit_within_the_lowest_bucket_cannot_be_judged_and_that_is_said() -> None:
    # vLLM: everything below 0.3 s, 0.1 s on average. The P99 may be 0.12 s or 0.29 s.
    found = p99({0.3: 100.0}, 10.0, 0.15, NOW)

    assert isinstance(found, NoData)
    assert found.why is Absence.TOO_COARSE
    assert found.note == "between 0 and 0.3 s: the buckets cannot tell it from 0.15 s"


def test_the_mean_tells_what_the_lowest_bucket_cannot() -> None:
    # 100 requests that waited 0.05 s together: not even one can have waited longer than that.
    found = p99({0.3: 100.0}, 0.05, 0.1, NOW)

    assert found.x is not None
    assert found.x <= 0.05 + 1e-9


@given(st.lists(st.floats(0.0, 0.29), min_size=1, max_size=300), st.floats(0.01, 0.3))
def test_in_the_lowest_bucket_no_promise_is_called_broken_and_none_kept_that_is_not(
    observed: list[float], limit: float
) -> None:
    found = p99(buckets(observed, LATENCY_S), sum(observed), limit, NOW)

    if found.x is not None:
        assert found.x <= limit + 1e-9
        assert exact(observed) <= limit + 1e-9


@pytest.mark.parametrize("limit", [None, 5.0])
def test_a_limit_above_the_bucket_is_kept(limit: float | None) -> None:
    assert p99({0.3: 100.0}, 10.0, limit, NOW).x == pytest.approx(0.297)
