"""Replicas through their lanes: each situation and what is done about it."""

from typing import Any

import pytest

from controlplane.decide.scaling.inputs import VariantFacts
from controlplane.decide.spare.inputs import SpareInput
from controlplane.decide.spare.lanes import decide_spare
from controlplane.domain.actions import (
    Action,
    Lend,
    SetLane,
    SetReplicas,
    Sleep,
    Wake,
    WarmUp,
)
from controlplane.domain.decisions import Choice, Standing
from controlplane.domain.policies import SparePolicy
from controlplane.domain.quantities import ReplicaName, Zone
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane, Phase, Replica
from controlplane.domain.samples import NOT_YET, Value
from tests.builders import A100, CHAT, NOW, T4, a_replica, facts


def decide(
    *replicas: Replica, target: int, split: dict[Any, int] | None = None, room: int = 9,
    variants: tuple[VariantFacts, ...] = (facts(T4, slots=4, hourly=0.5), facts(A100)),
    **policy: Any,
) -> Choice:  # fmt: skip
    return decide_spare(
        SpareInput(
            at=NOW,
            model=CHAT,
            policy=SparePolicy(**{"rotate_s": None, **policy}),
            standing=Standing(
                replicas=target, split={A100: target} if split is None else split, since=0.0
            ),
            variants=variants,
            replicas=replicas,
            room={A100: room, T4: 0},
        )
    )


def serving(count: int, **more: Any) -> list[Replica]:
    return [a_replica(f"s{i}", **more) for i in range(count)]


def flip(name: str, lane: Lane) -> SetLane:
    return SetLane(replica=ReplicaName(name), lane=lane, version=0)


def size(count: int, *victims: str, of: Any = A100) -> SetReplicas:
    names = tuple(ReplicaName(victim) for victim in victims)
    return SetReplicas(model=CHAT, node_class=of, count=count, victims=names)


def codes(choice: Choice) -> list[ReasonCode]:
    return [reason.code for reason in choice.trail]


LOADING = a_replica("new", Lane.LOADING)
UP = a_replica("new", Lane.LOADING, healthy=True)
WARMED = a_replica("new", Lane.LOADING, healthy=True, warmed_up=True)
WARM = a_replica("w", Lane.WARM)


def test_what_is_missing_is_created() -> None:
    choice = decide(*serving(2), target=4)

    assert choice.actions == (size(4),)
    assert codes(choice) == [ReasonCode.REFILLED]


def test_what_is_on_its_way_is_not_created_again() -> None:
    assert decide(*serving(2), LOADING, target=3).actions == ()


def test_a_healthy_replica_gets_its_warm_up_batch_once() -> None:
    started = decide(*serving(2), UP, target=3, warmup_requests=100)
    under_way = decide(*serving(2), a_replica("n", Lane.LOADING, healthy=True, warming_up=True),
                       target=3)  # fmt: skip

    assert started.actions == (WarmUp(replica=ReplicaName("new"), requests=100),)
    assert codes(started) == [ReasonCode.WARM_UP_STARTED]
    assert under_way.actions == ()


@pytest.mark.parametrize(
    ("service_s", "slots", "requests"),
    [
        pytest.param(0.125, 14, 100, id="a fast engine gets the whole batch"),
        pytest.param(15.0, 1, 1, id="60 s / (2.5 x 15 s): one request on its one slot"),
        pytest.param(5.0, 2, 8, id="four on each of two slots"),
        pytest.param(200.0, 4, 4, id="at least one a slot"),
    ],
)
def test_a_warm_up_batch_is_no_larger_than_its_time_allows(
    service_s: float, slots: int, requests: int
) -> None:
    variant = facts(A100, slots=slots, service_s=service_s)

    choice = decide(UP, target=1, variants=(variant,))

    assert choice.actions[0] == WarmUp(replica=ReplicaName("new"), requests=requests)


def test_law_7_only_what_answered_its_warm_up_goes_into_service() -> None:
    assert flip("new", Lane.SERVING) not in decide(*serving(2), UP, target=3).actions
    assert decide(*serving(2), WARMED, target=3).actions == (flip("new", Lane.SERVING),)


def test_a_warm_replica_is_promoted_and_the_spare_refilled() -> None:
    choice = decide(*serving(2), WARM, target=3, count=1)

    assert choice.actions == (flip("w", Lane.SERVING), size(4))
    assert codes(choice) == [ReasonCode.PROMOTED, ReasonCode.REFILLED]
    assert choice.trail[0].after == 3


def test_none_warm_is_said_as_a_refused_option() -> None:
    choice = decide(*serving(2), LOADING, target=3)

    assert [(r.option, r.code) for r in choice.refused] == [("promote", ReasonCode.NONE_WARM)]


def test_a_warmed_up_replica_nobody_needs_yet_is_labelled_warm() -> None:
    choice = decide(*serving(2), WARMED, target=2, count=1)

    assert choice.actions == (flip("new", Lane.WARM),)
    assert codes(choice) == [ReasonCode.BECAME_WARM]


def test_the_least_busy_leaves_first_but_not_the_last_of_its_zone() -> None:
    a, b = Zone("zone-a"), Zone("zone-b")
    replicas = [
        a_replica("busy", zone=a, in_flight=Value(9, NOW)),
        a_replica("calm", zone=a, in_flight=Value(2, NOW)),
        a_replica("alone", zone=b, in_flight=Value(0.1, NOW)),
    ]

    choice = decide(*replicas, target=2)

    assert choice.actions == (flip("calm", Lane.DRAINING),)
    assert codes(choice) == [ReasonCode.DRAIN_STARTED]


def test_r3_a_draining_replica_with_a_stream_in_flight_stays_until_it_has_ended() -> None:
    streaming = a_replica("d", Lane.DRAINING, in_flight=Value(1, NOW), lane_since=NOW - 60)
    done = a_replica("d", Lane.DRAINING, lane_since=NOW - 60)
    unknown = a_replica("d", Lane.DRAINING, in_flight=NOT_YET, lane_since=NOW - 60)

    assert decide(*serving(2), streaming, target=2).actions == ()
    assert decide(*serving(2), unknown, target=2).actions == ()
    assert decide(*serving(2), done, target=2).actions == (size(2, "d"),)
    assert codes(decide(*serving(2), done, target=2)) == [ReasonCode.DRAINED]


def test_a_drain_has_a_deadline() -> None:
    stuck = a_replica("d", Lane.DRAINING, in_flight=Value(1, NOW), lane_since=NOW - 121)

    choice = decide(*serving(2), stuck, target=2, drain_limit_s=120.0)

    assert choice.actions == (size(2, "d"),)
    assert codes(choice) == [ReasonCode.DRAIN_DEADLINE]


def test_r2_what_does_not_get_warm_in_time_is_replaced_with_the_reason() -> None:
    hanging = a_replica(
        "h", Lane.LOADING, healthy=True, warming_up=True, created_at=NOW - 601
    )  # fmt: skip

    choice = decide(*serving(2), hanging, target=3, load_limit_s=600.0)

    assert choice.actions == (size(2, "h"),)
    assert ReasonCode.LOAD_TOO_SLOW in codes(choice)
    assert decide(*serving(2), target=3).actions == (size(3),)  # and grown in the next cycle


def test_what_waits_for_a_device_is_not_too_slow() -> None:
    waiting = a_replica("p", Lane.LOADING, created_at=NOW - 900, unschedulable_since=NOW - 890)

    assert decide(*serving(2), waiting, target=3).actions == ()


def test_r4_a_silent_node_s_replica_is_not_counted_and_one_more_is_created() -> None:
    silent = a_replica("gone", node_ready=False)

    choice = decide(*serving(2), silent, target=3)

    # The Deployment still owns the silent pod, so four pods make three that serve.
    assert choice.actions == (size(4),)
    assert codes(choice) == [ReasonCode.NODE_SILENT]


def test_unschedulable_replicas_are_cancelled_first() -> None:
    waiting = a_replica(
        "p", Lane.LOADING, phase=Phase.PENDING, created_at=NOW - 90, unschedulable_since=NOW - 80
    )
    choice = decide(*serving(2), LOADING, waiting, target=3)

    assert choice.actions == (size(3, "p"),)
    assert codes(choice) == [ReasonCode.SPARE_SURPLUS]


def test_a_spare_grows_only_where_a_device_is_free() -> None:
    choice = decide(*serving(2), target=2, count=1, room=0)

    assert choice.actions == ()
    assert ("spare", ReasonCode.NO_DEVICE_FREE) in [(r.option, r.code) for r in choice.refused]
    assert decide(*serving(2), target=2, count=1, room=1).actions == (size(3),)


def test_what_leaves_service_becomes_the_missing_spare() -> None:
    choice = decide(*serving(3), target=2, count=1)

    assert [action.lane for action in choice.actions if isinstance(action, SetLane)] == [Lane.WARM]
    assert not [action for action in choice.actions if isinstance(action, SetReplicas)]


def test_p4_a_move_grows_first_and_drains_only_when_the_new_one_serves() -> None:
    old, new = a_replica("old"), a_replica("new", Lane.LOADING, node_class=T4)
    warmed = a_replica("new", Lane.LOADING, node_class=T4, healthy=True, warmed_up=True)
    up = a_replica("new", node_class=T4)
    split = {T4: 1}

    steps: list[tuple[Action, ...]] = [
        decide(*seen, target=1, split=split).actions
        for seen in ([old], [old, new], [old, warmed], [old, up])
    ]

    assert steps[0] == (size(1, of=T4),)
    assert steps[1] == ()
    assert steps[2] == (flip("new", Lane.SERVING), flip("old", Lane.DRAINING))
    assert steps[3] == (flip("old", Lane.DRAINING),)


def test_an_old_spare_is_rotated_by_growing_waiting_and_draining_it() -> None:
    old = a_replica("old", Lane.WARM, created_at=NOW - 1801)
    fresh = a_replica("fresh", Lane.WARM, created_at=NOW - 60)
    rules: dict[str, Any] = {"target": 2, "count": 1, "rotate_s": 1800.0}

    assert decide(*serving(2), old, **rules).actions == (size(4),)
    assert decide(*serving(2), old, LOADING, **rules).actions == ()
    rotated = decide(*serving(2), old, fresh, **rules)
    assert rotated.actions == (flip("old", Lane.DRAINING),)
    assert codes(rotated) == [ReasonCode.ROTATED]


def test_a_lending_spare_lends_half_of_its_slots_and_no_more_when_the_policy_changes() -> None:
    lent = a_replica("w", Lane.WARM, lent_slots=7)

    choice = decide(*serving(2), WARM, target=2, count=1, kind="lending")

    assert choice.actions == (Lend(replica=ReplicaName("w"), slots=7),)
    assert codes(choice) == [ReasonCode.LENT]
    assert decide(*serving(2), lent, target=2, count=1, kind="lending").actions == ()
    back = decide(*serving(2), lent, target=2, count=1, kind="warm")
    assert back.actions == (Lend(replica=ReplicaName("w"), slots=0),)


def test_a_sleeping_spare_sleeps_is_woken_and_then_promoted() -> None:
    asleep = a_replica("w", Lane.WARM, sleeping=True)

    slept = decide(*serving(2), WARM, target=2, count=1, kind="sleeping")
    woken = decide(*serving(2), asleep, target=3, kind="sleeping")

    assert slept.actions == (Sleep(replica=ReplicaName("w")),)
    assert codes(slept) == [ReasonCode.PUT_TO_SLEEP]
    assert woken.actions[0] == Wake(replica=ReplicaName("w"))
    assert codes(woken)[0] == ReasonCode.WOKEN
    assert decide(*serving(2), WARM, target=3, kind="sleeping").actions == (
        flip("w", Lane.SERVING),
    )


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_fleet_that_is_as_wanted_is_left_alone(count: int) -> None:
    spares = [a_replica(f"w{i}", Lane.WARM) for i in range(count)]

    assert decide(*serving(4), *spares, target=4, count=count).actions == ()


@pytest.mark.parametrize("lane", [Lane.SERVING, Lane.WARM])
def test_an_engine_that_began_anew_leaves_service_until_it_is_warmed_up(lane: Lane) -> None:
    """Law 7: its container was restarted, by an OOM kill say, so it is as cold as a new one."""
    restarted = a_replica("s9", lane, healthy=False, warmed_up=False)

    choice = decide(*serving(1), restarted, target=2)

    assert flip("s9", Lane.LOADING) in choice.actions
    assert flip("s9", Lane.SERVING) not in choice.actions
    assert codes(choice)[0] is ReasonCode.ENGINE_RESTARTED
    assert not any(isinstance(action, SetReplicas) for action in choice.actions)
