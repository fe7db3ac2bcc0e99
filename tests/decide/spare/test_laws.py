"""Laws of the lanes: wherever a plan is cut, what is left is safe, and it ends where it should."""

from collections import Counter
from typing import Literal

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.decide.replay import decide_again
from controlplane.decide.spare.draft import Draft
from controlplane.decide.spare.inputs import SpareInput
from controlplane.decide.spare.lanes import RULES, at_rest, decide_spare
from controlplane.domain.actions import Action, SetLane, SetReplicas, WarmUp
from controlplane.domain.decisions import Standing
from controlplane.domain.policies import SparePolicy
from controlplane.domain.quantities import ClassName, ReplicaName
from controlplane.domain.replicas import Lane, Replica
from tests.builders import A100, CHAT, NOW, T4, a_replica, facts

lanes = st.sampled_from([Lane.LOADING, Lane.WARM, Lane.SERVING, Lane.DRAINING])
starts = st.lists(st.tuples(lanes, st.sampled_from([A100, T4])), max_size=7)
targets = st.tuples(st.integers(0, 4), st.integers(0, 4))
spares = st.integers(0, 2)


def a_fleet(start: list[tuple[Lane, str]]) -> list[Replica]:
    return [a_replica(f"r{i}", lane, node_class=name) for i, (lane, name) in enumerate(start)]


def an_input(replicas: list[Replica], split: dict[str, int], count: int, at: float) -> SpareInput:
    return SpareInput(
        at=at,
        model=CHAT,
        policy=SparePolicy(count=count, rotate_s=None),
        standing=Standing(replicas=sum(split.values()), split=split, since=0.0),  # type: ignore[arg-type]
        variants=(facts(T4), facts(A100)),
        replicas=tuple(replicas),
        room={A100: 10, T4: 10},
    )


def carry_out(replicas: list[Replica], action: Action, at: float) -> list[Replica]:
    """A cluster in which everything succeeds at once: loads, warms up and drains in a cycle."""
    by_name = {r.name: r for r in replicas}
    match action:
        case SetLane(replica=name, lane=lane):
            by_name[name] = msgspec.structs.replace(
                by_name[name], lane=lane, lane_since=at, version=by_name[name].version + 1
            )
        case WarmUp(replica=name):
            by_name[name] = msgspec.structs.replace(by_name[name], warmed_up=True)
        case SetReplicas(node_class=node_class, count=count, victims=victims):
            for victim in victims:
                del by_name[victim]
            missing = count - sum(1 for r in by_name.values() if r.node_class == node_class)
            for i in range(missing):
                name = ReplicaName(f"new-{node_class}-{at}-{i}")
                by_name[name] = a_replica(
                    name, Lane.LOADING, node_class=node_class, healthy=True, created_at=at
                )
    return list(by_name.values())


def in_service(replicas: list[Replica]) -> int:
    return sum(1 for r in replicas if r.serving)


@given(starts, targets, spares, st.data())
@settings(max_examples=50, deadline=None)
def test_law_4_every_prefix_of_every_plan_is_safe_and_the_next_cycle_goes_on(
    start: list[tuple[Lane, str]], target: tuple[int, int], count: int, data: st.DataObject
) -> None:
    split = {A100: target[0], T4: target[1]}
    wanted = sum(target)
    replicas, at = a_fleet(start), NOW
    for _ in range(20):
        floor = min(in_service(replicas), wanted)
        actions = decide_spare(an_input(replicas, split, count, at)).actions  # type: ignore[arg-type]
        cut = data.draw(st.integers(0, len(actions)))
        for action in actions[:cut]:
            replicas = carry_out(replicas, action, at)
            assert in_service(replicas) >= floor  # never fewer than wanted, once there
        at += 5.0
    for _ in range(20):  # undisturbed, it arrives
        for action in decide_spare(an_input(replicas, split, count, at)).actions:  # type: ignore[arg-type]
            replicas = carry_out(replicas, action, at)
        at += 5.0

    assert in_service(replicas) == wanted
    assert len(replicas) == wanted + count
    assert all(
        sum(1 for r in replicas if r.serving and r.node_class == name) == number
        for name, number in split.items()
    )


@given(starts, targets, spares)
@settings(max_examples=40, deadline=None)
def test_a_spare_decision_replays_identically(
    start: list[tuple[Lane, str]], target: tuple[int, int], count: int
) -> None:
    seen = an_input(a_fleet(start), {A100: target[0], T4: target[1]}, count, NOW)
    choice = decide_spare(seen)

    again = decide_again("spare", msgspec.json.encode(seen))

    assert (again.trail, again.actions) == (choice.trail, choice.actions)


@given(starts, targets, spares)
@settings(max_examples=40, deadline=None)
def test_law_7_nothing_goes_into_service_that_has_not_answered(
    start: list[tuple[Lane, str]], target: tuple[int, int], count: int
) -> None:
    replicas = a_fleet(start)
    seen = an_input(replicas, {A100: target[0], T4: target[1]}, count, NOW)

    promoted = {
        action.replica
        for action in decide_spare(seen).actions
        if isinstance(action, SetLane) and action.lane is Lane.SERVING
    }

    assert promoted <= {r.name for r in replicas if r.healthy and r.warmed_up}


@given(
    st.lists(st.sampled_from([A100, T4]), max_size=5),
    st.lists(st.sampled_from([A100, T4]), max_size=2),
    st.sampled_from(["warm", "lending", "sleeping"]),
)
def test_where_a_fleet_is_at_rest_no_rule_would_have_spoken(
    serving: list[ClassName], spare: list[ClassName], kind: Literal["warm", "lending", "sleeping"]
) -> None:
    """The rules are passed over there, so that a calm fleet costs next to nothing."""
    lent = {A100: 7, T4: 7} if kind == "lending" else {}
    replicas = a_fleet([(Lane.SERVING, name) for name in serving]) + [
        a_replica(
            f"w{i}", Lane.WARM, node_class=name,
            lent_slots=lent.get(name, 0), sleeping=kind == "sleeping",
        )
        for i, name in enumerate(spare)
    ]  # fmt: skip
    seen = an_input(replicas, dict(Counter(serving)), len(spare), NOW)
    draft = Draft(msgspec.structs.replace(seen, policy=SparePolicy(count=len(spare), kind=kind)))
    for rule in RULES:
        rule(draft)

    assert at_rest(draft)
    assert (draft.actions, draft.refused, draft.figure.trail) == ([], [], ())
