"""An engine that queues by itself, or whose cache is full, has more than it can take."""

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.admission.pressure import EASY, Pressure, pressed

QUEUES = st.one_of(st.none(), st.integers(0, 3).map(float))
USAGES = st.one_of(st.none(), st.floats(0, 1))


def after(*looks: tuple[float | None, float | None]) -> Pressure:
    return reduce(lambda before, look: pressed(before, *look), looks, EASY)


def test_a_queue_at_one_look_alone_is_none_at_two_in_a_row_it_is() -> None:
    assert not after((1.0, 0.2)).full
    assert after((1.0, 0.2), (1.0, 0.2)).full
    assert not after((1.0, 0.2), (0.0, 0.2), (1.0, 0.2)).full


def test_a_queue_that_is_gone_makes_room_at_once() -> None:
    assert not after((3.0, None), (3.0, None), (0.0, None)).full


def test_a_full_cache_is_full_until_there_is_room_again() -> None:
    assert after((0.0, 0.96)).full
    assert after((0.0, 0.96), (0.0, 0.92)).full
    assert not after((0.0, 0.96), (0.0, 0.89)).full
    assert not after((0.0, 0.92)).full


@pytest.mark.parametrize("looks", [1, 5])
def test_what_is_not_exported_says_nothing(looks: int) -> None:
    assert not after(*[(None, None)] * looks).full


@given(st.lists(st.tuples(QUEUES, USAGES), max_size=20))
def test_whoever_has_no_queue_and_room_in_its_cache_is_never_full(
    looks: list[tuple[float | None, float | None]],
) -> None:
    assert not pressed(after(*looks), 0.0, 0.5).full
