"""Several models on one pool: who gets what is left, what spills, what comes back."""

import msgspec

from controlplane.decide.replay import decide_again
from controlplane.decide.scaling.cycle import cycle
from controlplane.decide.scaling.inputs import ModelMemory, ScalingMemory, ScalingSeen
from controlplane.decide.scaling.variants import variants
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import ClassName, ModelName, NodeName, Zone
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane, Phase, Replica, Stage
from controlplane.domain.samples import Absence, NoData
from tests.builders import (
    A100,
    NOW,
    T4,
    a_catalogue,
    a_class_load,
    a_load,
    a_model,
    a_replica,
    a_variant,
)

A, B = ModelName("model-a"), ModelName("model-b")
Loads = dict[ModelName, ModelLoad]


def nodes(a100: int, t4: int = 0) -> tuple[Node, ...]:
    return (
        Node(name=NodeName("a100-01"), node_class=A100, zone=Zone("zone-a"), devices=a100),
        Node(name=NodeName("t4-01"), node_class=T4, zone=Zone("zone-a"), devices=t4),
    )


def serving(model: ModelName, count: int, on: ClassName = A100) -> list[Replica]:
    node = NodeName("a100-01" if on == A100 else "t4-01")
    return [a_replica(f"{model}-{i}", model=model, node_class=on, node=node) for i in range(count)]


def remembered(**targets: dict[ClassName, int]) -> ScalingMemory:
    return ScalingMemory(
        models={
            ModelName(name.replace("_", "-")): ModelMemory(
                target=sum(split.values()), split=split, since=NOW - 900.0
            )
            for name, split in targets.items()
        }
    )


def decide(
    catalogue: Catalogue,
    replicas: list[Replica],
    loads: Loads,
    memory: ScalingMemory,
    of: tuple[Node, ...] | NoData,
    at: float = NOW,
) -> tuple[dict[str, Choice], ScalingMemory]:
    view = FleetView(at=at, nodes=of, replicas=tuple(replicas))
    seen = ScalingSeen(at=at, view=view, loads=loads)
    choices, memory = cycle(seen, catalogue, variants(catalogue), memory)
    return {choice.subject: choice for choice in choices}, memory


def two_models(**policies: int) -> Catalogue:
    return a_catalogue({A: a_model(importance=policies.get("a", 5)), B: a_model(importance=5)})


def busy(model: ModelName, arrivals: float = 100.0, **more: float) -> ModelLoad:
    return a_load(a_class_load(arrivals, **more), model=model)


def test_t8_a_queue_of_one_model_does_not_touch_the_other() -> None:
    replicas = serving(A, 2) + serving(B, 2)
    loads = {A: busy(A, 400.0, queue=90.0, turned_away=50.0), B: busy(B, 190.0)}

    choices, _ = decide(
        two_models(), replicas, loads, remembered(model_a={A100: 2}, model_b={A100: 2}), nodes(16)
    )

    assert choices[A].target == 4
    assert choices[B].target == 2
    assert not choices[B].actions


def test_t9_the_last_device_goes_to_the_one_that_breaks_its_promise_and_the_loser_says_so() -> None:
    replicas = serving(A, 2) + serving(B, 2)
    breaking = busy(A, 250.0, queue=90.0, turned_away=50.0)  # 31 slots of work: 3 replicas
    growing = busy(B, 230.0)  # 28.75 slots: 3 replicas at the ceiling, no promise broken

    choices, _ = decide(
        two_models(),
        replicas,
        {A: breaking, B: growing},
        remembered(model_a={A100: 2}, model_b={A100: 2}),
        nodes(5),
    )

    assert choices[A].target == 3
    assert choices[B].target == 2
    lost = choices[B].trail[-1]
    assert lost.code is ReasonCode.LOST_TO
    assert lost.evidence[0].value == A


def test_t9_a_broken_promise_goes_before_importance() -> None:
    replicas = serving(A, 2) + serving(B, 2)
    breaking = busy(A, 250.0, queue=90.0, turned_away=50.0)
    memory = remembered(model_a={A100: 2}, model_b={A100: 2})

    choices, _ = decide(
        two_models(a=9), replicas, {A: breaking, B: busy(B, 230.0)}, memory, nodes(5)
    )

    assert (choices[A].target, choices[B].target) == (3, 2)


def test_importance_decides_between_two_that_both_break_their_promise() -> None:
    replicas = serving(A, 2) + serving(B, 2)
    loads = {m: busy(m, 250.0, queue=90.0, turned_away=50.0) for m in (A, B)}
    memory = remembered(model_a={A100: 2}, model_b={A100: 2})

    choices, _ = decide(two_models(a=9), replicas, loads, memory, nodes(5))

    assert (choices[A].target, choices[B].target) == (2, 3)


def test_p1_an_unknown_inventory_holds_and_an_empty_one_blocks() -> None:
    loads = {A: busy(A, 900.0, queue=90.0, turned_away=50.0)}
    catalogue = a_catalogue({A: a_model()})
    memory = remembered(model_a={A100: 2})

    unknown, _ = decide(catalogue, serving(A, 2), loads, memory, NoData(Absence.FORBIDDEN))
    empty, _ = decide(catalogue, serving(A, 2), loads, memory, ())

    assert unknown[A].target == empty[A].target == 2
    assert unknown[A].trail[-1].code is ReasonCode.INVENTORY_UNKNOWN
    assert empty[A].trail[-1].code is ReasonCode.NO_DEVICES


def test_no_device_free_is_said_where_nobody_took_it() -> None:
    choices, memory = decide(
        a_catalogue({A: a_model()}),
        serving(A, 2),
        {A: busy(A, 400.0, queue=90.0, turned_away=50.0)},
        remembered(model_a={A100: 2}),
        nodes(2),
    )

    assert choices[A].trail[-1].code is ReasonCode.NO_DEVICE_FREE
    assert memory.models[A].waiting_since == NOW


def test_a_model_that_fits_nowhere_says_so() -> None:
    catalogue = a_catalogue({A: a_model(gib=900.0)})

    choices, _ = decide(catalogue, [], {A: busy(A)}, ScalingMemory(), nodes(8))

    assert choices[A].trail[-2].code is ReasonCode.NO_CLASS_FITS
    assert choices[A].trail[-1].code is ReasonCode.BELOW_MINIMUM


def on_both() -> Catalogue:
    model = a_model(gib=10.0, on={A100: a_variant(), T4: a_variant()})
    return a_catalogue({A: model}, t4_nodes=2)


def stuck(name: str, since: float) -> Replica:
    return a_replica(
        name, Lane.LOADING, model=A, node_class=T4, node=None, phase=Phase.PENDING,
        stage=Stage.UNSCHEDULED, unschedulable_since=since,
    )  # fmt: skip


def test_the_cheapest_class_is_filled_first_and_the_dearest_left_first() -> None:
    up, memory = decide(on_both(), [], {A: busy(A, 250.0)}, ScalingMemory(), nodes(8, t4=2))
    assert memory.models[A].split == {T4: 2}  # two cold ones are allowed at first

    replicas = serving(A, 2, T4)
    for at in (NOW + 20.0, NOW + 40.0):
        up, memory = decide(on_both(), replicas, {A: busy(A, 400.0)}, memory, nodes(8, t4=2), at=at)
    assert memory.models[A].split == {T4: 2, A100: 3}  # 50 slots at 0.85 of 14: 5 replicas
    assert ReasonCode.SPILLED in [reason.code for reason in up[A].trail]


def test_t6_a_class_unschedulable_for_120_s_is_short_and_the_next_one_takes_over() -> None:
    replicas = [*serving(A, 1, T4), stuck("model-a-x", NOW - 119.0)]
    memory = remembered(model_a={T4: 2})
    loads = {A: busy(A, 180.0)}

    _, waiting = decide(on_both(), replicas, loads, memory, nodes(8, t4=2))
    assert waiting.models[A].split == {T4: 2}

    choices, short = decide(on_both(), replicas, loads, memory, nodes(8, t4=2), at=NOW + 1.0)
    assert short.models[A].split == {T4: 1, A100: 1}
    assert short.models[A].short == {T4: NOW + 1.0 + 120.0}
    assert choices[A].target == 2


def test_t6_what_fits_on_no_other_class_is_cancelled_waits_and_is_tried_again_later() -> None:
    replicas = [*serving(A, 1, T4), stuck("model-a-x", NOW - 121.0)]
    loads = {A: busy(A, 180.0)}
    none_left = nodes(0, t4=1)

    choices, memory = decide(on_both(), replicas, loads, remembered(model_a={T4: 2}), none_left)
    assert choices[A].target == 1
    assert ReasonCode.CLASS_SHORT in [reason.code for reason in choices[A].trail]
    assert memory.models[A].waiting_since == NOW

    held, memory = decide(
        on_both(), serving(A, 1, T4), loads, memory, nodes(0, t4=2), at=NOW + 60.0
    )
    assert held[A].target == 1  # a device is free, but the class is left alone for 120 s
    again, _ = decide(on_both(), serving(A, 1, T4), loads, memory, nodes(0, t4=2), at=NOW + 121.0)
    assert again[A].target == 2


def test_what_spilled_comes_back_when_the_cheaper_class_has_room_and_things_are_calm() -> None:
    replicas = [*serving(A, 1, T4), *serving(A, 1, A100)]
    memory = remembered(model_a={T4: 1, A100: 1})

    choices, after = decide(on_both(), replicas, {A: busy(A, 150.0)}, memory, nodes(8, t4=2))

    assert after.models[A].split == {T4: 2}
    assert choices[A].trail[-1].code is ReasonCode.CAME_BACK
    assert choices[A].target == 2


def test_what_placement_wants_moved_shifts_the_split_and_keeps_the_target() -> None:
    view = FleetView(at=NOW, nodes=nodes(8, t4=2), replicas=tuple(serving(A, 1, A100)))
    seen = ScalingSeen(at=NOW, view=view, loads={A: busy(A, 50.0)}, moves={A: (A100, T4)})
    catalogue = on_both()

    choices, memory = cycle(seen, catalogue, variants(catalogue), remembered(model_a={A100: 1}))

    assert memory.models[A].split == {T4: 1}
    assert choices[0].target == 1
    assert choices[0].trail[-1].code is ReasonCode.GIVEN_UP


def test_every_choice_replays_to_the_same_trail_from_its_stored_input() -> None:
    replicas = serving(A, 2) + serving(B, 2)
    loads = {m: busy(m, 250.0, queue=90.0, turned_away=50.0) for m in (A, B)}
    memory = remembered(model_a={A100: 2}, model_b={A100: 2})
    choices, _ = decide(two_models(), replicas, loads, memory, nodes(5))

    for choice in choices.values():
        again = decide_again("scaling", msgspec.json.encode(choice.seen))
        assert again.trail == choice.trail
        assert again.actions == choice.actions
