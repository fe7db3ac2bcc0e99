"""A class leaves the catalogue, or a pair is denied, while replicas serve on it."""

from dataclasses import replace

import msgspec

from controlplane.decide.replay import decide_again
from controlplane.decide.scaling.decision import decide_scale
from controlplane.decide.scaling.inputs import Held, ModelMemory, Room
from controlplane.domain.catalogue import Pair
from controlplane.domain.decisions import Choice
from controlplane.domain.reasons import ReasonCode
from tests.builders import (
    A100,
    CUDA,
    NOW,
    T4,
    a_catalogue,
    a_class_load,
    a_load,
    a_model,
    a_variant,
    an_input,
)
from tests.decide.scaling.test_fleet import A, busy, decide, nodes, remembered, serving

WITHOUT_T4 = a_catalogue({A: a_model(10.0, on={A100: a_variant()})})


def test_what_serves_on_a_class_that_left_still_counts_where_no_other_has_room() -> None:
    """Four are needed and four serve: nothing may be taken away before something is there."""
    choices, memory = decide(
        WITHOUT_T4,
        serving(A, 4, T4),
        {A: busy(A, 380.0)},
        remembered(model_a={T4: 4}),
        nodes(0, t4=4),
    )

    assert choices[A].target == 4
    assert memory.models[A].split == {T4: 4}
    assert choices[A].trail[-1].code is ReasonCode.CLASS_LEFT


def test_a_class_that_left_is_not_left_for_a_class_that_is_short() -> None:
    """The pod on A100 was unschedulable for 120 s: still the four on T4 are what serves."""
    held = {
        T4: Held(serving=4),
        A100: Held(loading=1, unschedulable=1, unschedulable_since=NOW - 121),
    }
    memory = ModelMemory(target=4, split={A100: 1, T4: 3}, since=NOW - 900.0)
    seen = an_input(
        a_load(a_class_load(380.0)), held=held, memory=memory, room=Room(grants={}), target=None
    )

    choice = decide_scale(seen)

    assert choice.target == 4
    assert choice.actions[0].split == {T4: 4}  # type: ignore[union-attr]  # a SetTarget


def test_it_goes_as_far_as_another_class_has_room_and_the_target_stays() -> None:
    choices, memory = decide(
        WITHOUT_T4,
        serving(A, 4, T4),
        {A: busy(A, 380.0)},
        remembered(model_a={T4: 4}),
        nodes(3, t4=4),
    )

    assert choices[A].target == 4
    assert memory.models[A].split == {A100: 3, T4: 1}


def test_what_falls_leaves_the_class_that_left_first() -> None:
    calm = {A: busy(A, 0.0)}
    replicas = [*serving(A, 2, A100), *serving(A, 2, T4)]
    memory = remembered(model_a={A100: 2, T4: 2})
    choices: dict[str, Choice] = {}
    for step in range(40):
        at = NOW + 5.0 * step
        choices, memory = decide(WITHOUT_T4, replicas, calm, memory, nodes(2, t4=4), at=at)

    assert choices[A].target == 1
    assert memory.models[A].split == {A100: 1}


def test_a_model_that_fits_no_class_any_more_keeps_what_serves() -> None:
    """Its only pair was denied; a person has to decide what becomes of it."""
    denied = replace(
        WITHOUT_T4, pairs=(Pair(model=A, runtime=CUDA, verdict="denied", reason="crashes"),)
    )
    choices, memory = decide(
        denied,
        serving(A, 2, A100),
        {A: busy(A, 180.0)},
        remembered(model_a={A100: 2}),
        nodes(8),
    )

    assert choices[A].target == 2
    assert memory.models[A].split == {A100: 2}


def test_it_is_decided_again_alike() -> None:
    choices, _ = decide(
        WITHOUT_T4,
        serving(A, 4, T4),
        {A: busy(A, 380.0)},
        remembered(model_a={T4: 4}),
        nodes(1, t4=4),
    )

    again = decide_again("scaling", msgspec.json.encode(choices[A].seen))

    assert again.trail == choices[A].trail
    assert again.actions == choices[A].actions
