"""P4: a small model on a big card that another waits for grows elsewhere, drains, frees it."""

from typing import Any

import msgspec
import pytest

from controlplane.decide.placement.relocate import (
    CALM_S,
    STUCK_S,
    PlacementMemory,
    PlacementSeen,
    cycle,
)
from controlplane.decide.placement.squatting import Squatting, decide_squatting
from controlplane.domain.decisions import Standing
from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane
from controlplane.domain.samples import Absence, NoData
from tests.decide.placement.fleets import A100, B3, CUDA, T4, catalogue, model, node, replica

SMALL, BIG = ModelName("classifier"), ModelName("image")
ON = {A100: CUDA, T4: CUDA}
FLEET = catalogue({SMALL: model(8, ON), BIG: model(40, ON)})
NODES = (node("big-1", A100, 1), node("small-1", T4, 1))
FRESH = PlacementMemory()
SQUATS = (replica("c1", SMALL, A100, "big-1"), replica("i1", BIG, A100, None))


def standing(**split: int) -> Standing:
    named = {ClassName(name.replace("_", "-")): count for name, count in split.items()}
    return Standing(replicas=sum(split.values()), split=named, since=0.0)


def seen(**more: Any) -> PlacementSeen:
    """The situation of P4 at its beginning, or a variation of it."""
    at = more.pop("at", 1000.0)
    facts: dict[str, Any] = {
        "view": FleetView(at=at, nodes=NODES, replicas=SQUATS),
        "plan": {SMALL: standing(A100_80G=1), BIG: standing(A100_80G=1)},
        "waiting": {BIG: {A100: 1}},
    }
    return PlacementSeen(at=at, **(facts | more))


def view(*replicas: Any, nodes: Any = NODES, at: float = 1000.0) -> FleetView:
    return FleetView(at=at, nodes=nodes, replicas=replicas)


def test_p4_the_classifier_is_moved_to_the_t4_and_its_target_stays() -> None:
    choices, memory = cycle(seen(), FLEET, FRESH)
    assert memory.moves == {SMALL: (A100, T4)}
    (choice,) = choices
    assert (choice.subject, choice.current, choice.target) == (SMALL, 1, 1)
    assert choice.decisive is ReasonCode.SQUATTING
    evidence = {e.name: e.value for e in choice.trail[0].evidence}
    assert evidence == {"node_class": A100, "waiting": BIG, "to": T4, "need": 8, "moved": 1}


def test_p4_a_pod_that_no_node_can_take_waits_though_nobody_says_so() -> None:
    stuck = replica("i1", BIG, A100, None, unschedulable_since=900.0)
    look = seen(view=view(SQUATS[0], stuck), waiting={})
    assert cycle(look, FLEET, FRESH)[1].moves == {SMALL: (A100, T4)}


def test_p4_while_it_moves_nobody_else_is_asked_to_leave() -> None:
    other = catalogue({SMALL: model(8, ON), "second": model(8, ON), BIG: model(40, ON)})
    nodes = (node("big-1", A100, 2), node("small-1", T4, 9))
    crowd = (*SQUATS, replica("s1", "second", A100, "big-1"))
    plan = {
        SMALL: standing(A100_80G=1),
        "second": standing(A100_80G=1),
        BIG: standing(A100_80G=1),
    }
    first, memory = cycle(seen(view=view(*crowd, nodes=nodes), plan=plan), other, FRESH)
    assert [c.subject for c in first] == [SMALL]
    again, memory = cycle(seen(view=view(*crowd, nodes=nodes), plan=plan), other, memory)
    assert again == ()
    assert set(memory.moves) == {SMALL}


def test_p4_to_the_end_it_stays_where_it_went_until_the_card_is_not_needed_for_long() -> None:
    _, memory = cycle(seen(), FLEET, FRESH)
    moved = view(replica("c2", SMALL, T4, "small-1"), replica("i1", BIG, A100, "big-1"))
    plan = {SMALL: standing(T4=1), BIG: standing(A100_80G=1)}
    for at in (1100.0, 9000.0):  # the big model holds the card
        choices, memory = cycle(seen(view=moved, plan=plan, waiting={}, at=at), FLEET, memory)
        assert choices == ()
        assert memory.moves == {SMALL: (A100, T4)}
    gone = {SMALL: standing(T4=1), BIG: standing()}
    calm = seen(view=moved, plan=gone, waiting={}, at=9000.0 + CALM_S - 1)
    _, memory = cycle(calm, FLEET, memory)
    assert memory.moves == {SMALL: (A100, T4)}
    _, memory = cycle(msgspec.structs.replace(calm, at=9000.0 + CALM_S), FLEET, memory)
    assert memory.moves == {}


def test_a_model_that_has_no_smaller_home_stays() -> None:
    fleet = catalogue({SMALL: model(8, {A100: CUDA}), BIG: model(40, ON)})
    assert cycle(seen(), fleet, FRESH) == ((), FRESH)


def test_a_model_that_needs_its_card_is_no_squatter() -> None:
    fleet = catalogue({SMALL: model(50, ON), BIG: model(40, ON)})
    assert cycle(seen(), fleet, FRESH)[1] == FRESH


def test_a_full_destination_is_refused_and_the_row_says_so() -> None:
    full = view(*SQUATS, nodes=(node("big-1", A100, 1), node("small-1", T4, 0)))
    choices, memory = cycle(seen(view=full), FLEET, FRESH)
    assert memory.moves == {}
    (choice,) = choices
    assert (choice.subject, choice.decisive) == (BIG, ReasonCode.NO_DEVICE_FREE)
    assert [(r.option, r.code) for r in choice.refused] == [(T4, ReasonCode.NO_DEVICE_FREE)]


def test_a_destination_promised_to_another_is_not_free() -> None:
    fleet = catalogue({SMALL: model(8, ON), "other": model(8, ON), BIG: model(40, ON)})
    plan = {SMALL: standing(A100_80G=1), "other": standing(T4=1), BIG: standing(A100_80G=1)}
    assert cycle(seen(plan=plan), fleet, FRESH)[1].moves == {}
    pending = view(*SQUATS, replica("o1", "other", T4, None))
    assert cycle(seen(view=pending), fleet, FRESH)[1].moves == {}


def test_a_destination_others_wait_for_is_left_to_them() -> None:
    fleet = catalogue({SMALL: model(8, ON), "other": model(8, ON), BIG: model(40, ON)})
    waiting = {BIG: {A100: 1}, ModelName("other"): {T4: 1}}
    choices, memory = cycle(seen(waiting=waiting), fleet, FRESH)
    assert memory.moves == {}
    assert choices[0].refused[0].code is ReasonCode.LOST_TO


def test_one_class_is_enough_for_a_model_that_would_do_with_several() -> None:
    fleet = catalogue({SMALL: model(8), "other": model(8), BIG: model(40)})
    nodes = (*NODES, node("big-2", B3, 1), node("small-2", T4, 9))
    crowd = view(*SQUATS, replica("o1", "other", B3, "big-2"), nodes=nodes)
    plan = {
        SMALL: standing(A100_80G=1),
        "other": Standing(replicas=1, split={B3: 1}, since=0.0),
        BIG: standing(A100_80G=1),
    }
    look = seen(view=crowd, plan=plan, waiting={BIG: {A100: 1, B3: 1}})
    _, memory = cycle(look, fleet, FRESH)
    assert len(memory.moves) == 1
    assert cycle(look, fleet, memory) == ((), memory)


def test_two_that_wait_are_not_both_content_with_one_device() -> None:
    fleet = catalogue(
        {SMALL: model(8, ON), "other": model(8, ON), BIG: model(40, ON), "bigger": model(50, ON)}
    )
    nodes = (node("big-1", A100, 2), node("small-1", T4, 9))
    crowd = view(*SQUATS, replica("o1", "other", A100, "big-1"), nodes=nodes)
    plan = {name: standing(A100_80G=1) for name in (SMALL, "other", BIG, "bigger")}
    look = seen(view=crowd, plan=plan, waiting={BIG: {A100: 1}, "bigger": {A100: 1}})
    choices, memory = cycle(look, fleet, FRESH)
    assert {c.subject for c in choices} == set(memory.moves) == {SMALL, "other"}
    assert cycle(look, fleet, memory) == ((), memory)


def test_who_waits_for_a_class_but_cannot_use_what_is_free_there_is_not_in_the_way() -> None:
    fleet = catalogue({SMALL: model(8, ON), BIG: model(40, ON, tensor_parallel=(1, 4))})
    _, memory = cycle(seen(waiting={BIG: {A100: 1, T4: 1}}), fleet, FRESH)
    assert memory.moves == {SMALL: (A100, T4)}  # one T4 is free, the big model would need four


def test_all_replicas_must_find_room_or_none_leaves() -> None:
    two = view(
        *SQUATS, replica("c2", SMALL, A100, "big-1"), nodes=(node("big-1", A100, 2), NODES[1])
    )
    plan = {SMALL: standing(A100_80G=2), BIG: standing(A100_80G=1)}
    assert cycle(seen(view=two, plan=plan), FLEET, FRESH)[1].moves == {}


def test_p1_an_unknown_inventory_holds_everything_as_it_is() -> None:
    _, moving = cycle(seen(), FLEET, FRESH)
    blind = seen(view=view(*SQUATS, nodes=NoData(Absence.FORBIDDEN)), at=99_999.0)
    for memory in (FRESH, moving):
        choices, after = cycle(blind, FLEET, memory)
        assert after == memory
        assert [(c.subject, c.decisive) for c in choices] == [(BIG, ReasonCode.INVENTORY_UNKNOWN)]


def test_p1_zero_devices_reported_is_blocked() -> None:
    for nodes in ((), (node("big-1", A100, 0), NODES[1])):
        choices, memory = cycle(seen(view=view(*SQUATS, nodes=nodes)), FLEET, FRESH)
        assert memory == FRESH
        assert [(c.subject, c.decisive) for c in choices] == [(BIG, ReasonCode.NO_DEVICES)]


def test_a_multi_device_model_needs_its_devices_on_one_node() -> None:
    fleet = catalogue(
        {
            "a": model(8, ON),
            "b": model(8, ON),
            "c": model(8, ON),
            BIG: model(100, ON, tensor_parallel=(2,)),
        }
    )
    nodes = (node("big-1", A100, 2), node("big-2", A100, 2), node("small-1", T4, 9))
    plan = {name: standing(A100_80G=1) for name in ("a", "b", "c", BIG)}
    apart = view(
        replica("a1", "a", A100, "big-1"),
        replica("b1", "b", A100, "big-2"),
        replica("c1", "c", A100, "big-2"),
        nodes=nodes,
    )
    choices, memory = cycle(seen(view=apart, plan=plan), fleet, FRESH)
    assert [c.subject for c in choices] == ["a"]  # big-1 has one free already
    both = view(*apart.replicas, replica("x", "gone", A100, "big-1"), nodes=nodes)
    choices, memory = cycle(seen(view=both, plan=plan), fleet, FRESH)
    assert [c.subject for c in choices] == ["b"]
    choices, memory = cycle(seen(view=both, plan=plan), fleet, memory)
    assert [c.subject for c in choices] == ["c"]  # one alone would not have helped
    assert set(memory.moves) == {"b", "c"}


def test_a_spare_is_not_what_leaves() -> None:
    spare = replica("c0", SMALL, A100, "big-1", lane=Lane.WARM)
    crowd = view(spare, *SQUATS, nodes=(node("big-1", A100, 2), NODES[1]))
    choices, _ = cycle(seen(view=crowd), FLEET, FRESH)
    look = choices[0].seen
    assert isinstance(look, Squatting)
    assert look.squatters[0].holds == {"big-1": 1}


def test_a_device_that_is_being_drained_is_worth_waiting_for() -> None:
    leaving = replica("x1", "x", A100, "big-2", lane=Lane.DRAINING)
    nodes = (*NODES, node("big-2", A100, 1))
    assert cycle(seen(view=view(*SQUATS, leaving, nodes=nodes)), FLEET, FRESH) == ((), FRESH)


def test_a_move_that_finds_no_device_is_given_up_and_not_tried_at_once() -> None:
    _, memory = cycle(seen(), FLEET, FRESH)
    full = view(*SQUATS, replica("x", "x", T4, "small-1"))
    late = 1000.0 + STUCK_S
    _, memory = cycle(seen(view=full, at=late), FLEET, memory)
    assert memory.moves == {}
    choices, memory = cycle(seen(at=late + 1), FLEET, memory)  # the T4 is free again
    assert (choices, memory.moves) == ((), {})
    _, memory = cycle(seen(at=late + CALM_S), FLEET, memory)
    assert memory.moves == {SMALL: (A100, T4)}


def test_a_move_ends_when_the_new_catalogue_does_not_allow_it() -> None:
    _, memory = cycle(seen(), FLEET, FRESH)
    changed = catalogue({SMALL: model(8, {A100: CUDA}), BIG: model(40, ON)})
    assert cycle(seen(), changed, memory)[1].moves == {}


def test_a_stored_input_decides_the_same_again_and_memory_survives_a_restart() -> None:
    (choice,), memory = cycle(seen(), FLEET, FRESH)
    stored = msgspec.json.decode(msgspec.json.encode(choice.seen), type=Squatting)
    assert decide_squatting(stored) == choice
    assert msgspec.json.decode(msgspec.json.encode(memory), type=PlacementMemory) == memory


@pytest.mark.parametrize("times", [1, 5])
def test_deciding_again_on_the_same_sight_changes_nothing(times: int) -> None:
    _, memory = cycle(seen(), FLEET, FRESH)
    for _ in range(times):
        choices, after = cycle(seen(), FLEET, memory)
        assert (choices, after) == ((), memory)
