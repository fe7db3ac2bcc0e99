"""The figures for others: whole, finite, at or above 0, and never a 0 for what is not known."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controlplane.decide.handover.figures import (
    MOST,
    Figures,
    Serving,
    figures,
    weighted_depth,
    whole,
)
from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.policies import ModelPolicy, Objective, ScalingPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.samples import IDLE, Absence, NoData, Sample, Stale, reading
from controlplane.settings import profile
from tests.builders import A100, CHAT, NOW, a_class_load, a_load, a_policy

SEED = profile("seed-000").policy
NOBODY = NoData(Absence.UNREACHABLE)


def told(load: ModelLoad, policy: ModelPolicy | None = None, replicas: int = 2) -> Figures:
    serving = Serving(replicas=replicas, slots=10.0, service_s=2.0)
    return figures(load, policy or a_policy(), serving, {A100: 3})


def test_depth_is_weighted_three_two_one() -> None:
    load = a_load(a_class_load(queue=4), a_class_load(queue=3), a_class_load(queue=2))

    assert told(load).weighted_depth == 4 * 3 + 3 * 2 + 2


def test_a_queue_told_without_classes_counts_each_request_once() -> None:
    load = a_load(medium=a_class_load(queue=7))

    assert told(load).weighted_depth == 7 * 2
    assert told(replace(load, unclassed=True)).weighted_depth == 7


@pytest.mark.parametrize(
    ("queue", "given"),
    [(8, 8), (9, 9), (10, 10), (11, 10), (12, 12)],  # low weighs 1; 2 replicas at 5, held to 5.5
)
def test_within_the_hysteresis_the_depth_says_stay(queue: int, given: int) -> None:
    load = a_load(low=a_class_load(queue=queue))

    assert weighted_depth(load, SEED.scaling, 2) == given


def test_drain_is_in_milliseconds() -> None:
    load = a_load(a_class_load(queue=30))  # 30 x 2 s over 2 x 10 slots

    assert told(load).drain == 3_000
    assert told(load, replicas=0).drain == 6_000  # what one replica would need


def test_the_wait_is_the_worst_classs_in_thousandths_of_its_objective() -> None:
    load = a_load(a_class_load(wait=0.05), a_class_load(wait=1.2), a_class_load(wait=1.0))

    assert told(load).wait_p99 == 1_500  # medium: 1.2 s of 0.8 s


def test_a_class_without_requests_waits_for_nothing() -> None:
    assert told(a_load()).wait_p99 == 0


def test_an_unknown_class_makes_the_wait_unknown_unless_another_breaks_its_limit() -> None:
    silent, slow = a_class_load(wait=NOBODY), a_class_load(wait=2.0)

    assert told(a_load(silent)).wait_p99 is None
    assert told(a_load(silent, slow)).wait_p99 == 2_500


@pytest.mark.parametrize("sample", [NOBODY, Stale(90.0), reading("NaN", NOW), reading(-3, NOW)])
def test_what_is_not_known_is_none(sample: Sample) -> None:
    found = told(a_load(a_class_load(queue=sample)))

    assert (found.queue, found.drain, found.weighted_depth) == (None, None, None)


def test_a_load_of_which_nothing_is_known_says_nothing() -> None:
    load = ModelLoad(model=CHAT, at=NOW, classes={p: ClassLoad() for p in Priority})

    found = told(load)
    assert (found.queue, found.drain, found.wait_p99, found.weighted_depth) == (None,) * 4
    assert found.of("target", A100) == 3  # what was decided is known all the same


@pytest.mark.parametrize("x", [nan, inf, -inf, -1.0, 0.4, 1e300, 7.5])
def test_k5_whatever_comes_both_fields_hold_it(x: float) -> None:
    got = whole(x)

    assert 0 <= got <= MOST
    assert int(float(got)) == got


SAMPLES = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True).map(lambda x: reading(x, NOW)),
    st.text().map(lambda text: reading(text, NOW)),
    st.sampled_from([IDLE, NOBODY, Stale(1e9)]),
)


@given(
    st.lists(SAMPLES, min_size=6, max_size=6),
    st.integers(0, 10**6),
    st.floats(0.001, 1e6),
    st.one_of(st.none(), st.floats(0.001, 1e6)),
    st.floats(0, 100),
)
def test_k5_any_input_gives_finite_whole_numbers_or_nothing(
    samples: list[Sample], replicas: int, service_s: float, target: float | None, hysteresis: float
) -> None:
    classes = {
        priority: a_class_load(queue=samples[n], wait=samples[n + 3])
        for n, priority in enumerate(Priority)
    }
    policy = ModelPolicy(
        objectives={p: Objective(wait_p99_s=0.001) for p in Priority},
        scaling=ScalingPolicy(depth_target=target, depth_hysteresis=hysteresis),
    )
    load = ModelLoad(model=CHAT, at=NOW, classes=classes)
    serving = Serving(replicas=replicas, slots=1.0, service_s=service_s)

    found = figures(load, policy, serving, {A100: replicas})

    for x in (
        found.queue,
        found.drain,
        found.wait_p99,
        found.weighted_depth,
        *found.target.values(),
    ):
        assert x is None or (0 <= x <= MOST and type(x) is int and int(float(x)) == x)


def test_a_source_that_knows_no_classes_counts_each_request_once() -> None:
    load = ModelLoad(model=CHAT, at=NOW, classes={Priority.HIGH: a_class_load(queue=8, wait=0.2)})

    found = told(load)
    assert (found.weighted_depth, found.wait_p99) == (8, 2_000)
