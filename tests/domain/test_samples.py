"""S4, S9: what is no usable number never becomes one, anywhere."""

import json
from math import inf, isnan, nan

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.scaling.decision import decide_scale
from controlplane.domain.samples import (
    Bad,
    Sample,
    Stale,
    Value,
    Zero,
    fresh,
    known,
    number,
    reading,
)
from controlplane.telemetry.metrics import Metrics
from tests.builders import CHAT, NOW, a_class_load, a_load, an_input

GARBAGE: tuple[object, ...] = (
    *(nan, inf, -inf, -1.0, None, [], {}, object, b"\xff"),
    *("", " ", "nan", "NaN", "Infinity", "-inf", "1e400", "-5", "<html>", "0x10"),
)


@pytest.mark.parametrize("raw", GARBAGE, ids=repr)
def test_s4_what_is_no_usable_number_is_bad_and_says_what_it_was(raw: object) -> None:
    sample = reading(raw, NOW)

    assert isinstance(sample, Bad)
    assert number(sample) is None
    assert not known(sample)
    assert sample.raw == repr(raw)[:80]


@pytest.mark.parametrize(("raw", "x"), [(3, 3.0), ("3", 3.0), ("2.5e3", 2500.0), (1e-300, 1e-300)])
def test_a_finite_number_is_a_value(raw: object, x: float) -> None:
    assert reading(raw, NOW) == Value(x, NOW)


@pytest.mark.parametrize("raw", [0, 0.0, -0.0, "0", "0.0"])
def test_a_zero_somebody_answered_is_confirmed(raw: object) -> None:
    assert reading(raw, NOW) == Zero(NOW)


def test_a_signal_that_may_be_negative_says_so() -> None:
    assert reading(-2.0, NOW, may_be_negative=True) == Value(-2.0, NOW)


@given(st.one_of(st.floats(), st.text(max_size=8), st.integers(), st.none(), st.binary(max_size=4)))
def test_s4_only_finite_numbers_that_are_not_negative_get_through(raw: object) -> None:
    x = number(reading(raw, NOW))

    assert x is None or 0.0 <= x < inf


def test_s9_a_sample_older_than_the_limit_is_stale_with_its_age() -> None:
    assert fresh(Value(5.0, NOW), NOW + 31.0, 30.0) == Stale(31.0)
    assert fresh(Zero(NOW), NOW + 31.0, 30.0) == Stale(31.0)
    assert fresh(Value(5.0, NOW), NOW + 30.0, 30.0) == Value(5.0, NOW)
    assert fresh(Bad("x"), NOW + 99.0, 30.0) == Bad("x")
    assert number(Stale(31.0)) is None


@pytest.mark.parametrize("sample", [Bad("nan"), Bad("-7"), Stale(400.0)], ids=repr)
def test_s4_a_bad_sample_reaches_neither_a_decision_nor_what_is_stored_of_it(
    sample: Sample,
) -> None:
    of_class = a_class_load(sample, sample, turned_away=sample, wait=sample)
    load = a_load(of_class, of_class, of_class, service_s=sample, kv=sample, utilisation=sample)

    choice = decide_scale(an_input(load, target=4))
    stored = msgspec.json.encode(choice)

    assert choice.target == 4
    json.loads(stored, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_s4_a_bad_sample_is_no_number_for_prometheus_either() -> None:
    metrics = Metrics()
    bad = a_class_load(Bad("-7"), Bad("-7"))

    metrics.load(a_load(bad, bad, bad), None)

    labels = {"model": CHAT, "priority": "high"}
    queue = metrics.registry.get_sample_value("controlplane_queue_depth", labels)
    assert queue is not None
    assert isnan(queue)
    why = {**labels, "signal": "queue", "why": "Bad"}
    assert metrics.registry.get_sample_value("controlplane_signal_missing", why) == 1.0
