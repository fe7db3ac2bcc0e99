"""Each trigger against its limit, with figures worked by hand."""

from typing import Any

import pytest

from controlplane.decide.scaling.decision import decide_scale
from controlplane.domain.decisions import Choice
from controlplane.domain.load import ModelLoad
from controlplane.domain.policies import ModelPolicy, Objective, ScalingPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.reasons import Reason, ReasonCode
from tests.builders import a_class_load, a_load, a_policy, an_input


def spoke(choice: Choice, code: ReasonCode) -> Reason:
    return next(reason for reason in choice.trail if reason.code is code)


def decide(load: ModelLoad, *, target: int = 4, **scaling: Any) -> Choice:
    policy = a_policy(max=50, cold_step_share=None, **scaling)
    return decide_scale(an_input(load, target=target, policy=policy))


def test_a_queue_that_drains_too_slowly_raises_to_what_drains_it_in_time() -> None:
    # 4 replicas x 14 slots / 0.5 s = 112/s; 4,000 waiting take 35.7 s, the limit is 30 s.
    # 4000 x 0.5 / 30 = 66.7 slots for the queue + 20 x 0.5 = 10 for arrivals: 76.7 / 14 = 5.5 -> 6
    choice = decide(a_load(a_class_load(20.0, 4_000.0), service_s=0.5))

    assert spoke(choice, ReasonCode.DRAIN_TOO_SLOW).after == 6
    assert spoke(choice, ReasonCode.DRAIN_TOO_SLOW).evidence[0].value == pytest.approx(
        35.7, abs=0.1
    )


def test_the_same_depth_that_drains_in_milliseconds_raises_nothing() -> None:
    choice = decide(a_load(a_class_load(20.0, 5.0), service_s=0.125))

    assert spoke(choice, ReasonCode.DRAIN_WITHIN).after == 4


def test_a_queue_without_any_replica_raises_from_zero() -> None:
    choice = decide(a_load(a_class_load(0.2, 1.0)), target=0, min=0)

    assert choice.target >= 1


def test_a_broken_wait_raises_by_one_where_the_work_asks_for_no_more() -> None:
    choice = decide(a_load(a_class_load(200.0, wait=0.3), a_class_load(150.0)))

    assert spoke(choice, ReasonCode.WAIT_P99_BROKEN).after == 5
    assert spoke(choice, ReasonCode.WAIT_P99_BROKEN).evidence[0].limit == 0.1


def test_a_broken_wait_adds_nothing_while_more_is_on_its_way() -> None:
    load = a_load(a_class_load(200.0, wait=0.3), a_class_load(150.0))
    seen = an_input(load, target=5, serving=4, loading=1)

    assert decide_scale(seen).target == 5


def test_a_latency_that_is_all_service_is_not_cured_by_replicas() -> None:
    slow = {Priority.HIGH: Objective(wait_p99_s=0.5, latency_p99_s=1.0)}
    policy = ModelPolicy(objectives=slow, scaling=ScalingPolicy(min=1, max=8))
    all_service = a_load(a_class_load(200.0, wait=0.01, latency=2.0), a_class_load(150.0))
    with_waiting = a_load(a_class_load(200.0, wait=0.4, latency=1.3), a_class_load(150.0))

    held = decide_scale(an_input(all_service, policy=policy))
    raised = decide_scale(an_input(with_waiting, policy=policy))

    assert held.target == 4
    assert spoke(held, ReasonCode.P99_WITHIN).after == 4
    assert raised.target == 5
    assert spoke(raised, ReasonCode.LATENCY_P99_BROKEN).after == 5


def test_memory_above_its_watermark_raises_in_proportion() -> None:
    busy = (a_class_load(200.0), a_class_load(150.0))

    assert decide(a_load(*busy, kv=0.95)).target == 5  # 4 x 0.95 / 0.85 = 4.47
    assert spoke(decide(a_load(*busy, kv=0.80)), ReasonCode.MEMORY_WITHIN).after == 4
    assert spoke(decide(a_load(*busy, kv=0.95)), ReasonCode.MEMORY_ABOVE_WATERMARK).after == 5


def test_offered_load_counts_what_was_refused_and_uses_the_calm_window() -> None:
    # 500/s x 0.125 s = 62.5 slots; at 0.85 of 14 a replica: 5.25 -> 6
    steady = decide(a_load(a_class_load(500.0)))
    over = decide(a_load(a_class_load(100.0, steady=500.0)))

    assert steady.target == 6
    assert spoke(steady, ReasonCode.OFFERED_LOAD_HIGH).after == 6
    assert over.target == 4  # a burst that is over is no reason to grow
    assert spoke(over, ReasonCode.OFFERED_LOAD_WITHIN).after == 4


def test_utilisation_never_raises_alone() -> None:
    calm = a_load(a_class_load(200.0), a_class_load(150.0), utilisation=0.99)
    queued = a_load(a_class_load(200.0, 40.0, wait=0.3), a_class_load(150.0), utilisation=0.99)

    assert decide(calm).target == 4
    assert spoke(decide(queued), ReasonCode.BUSY_AND_QUEUED).after == 5


def test_utilisation_alone_raises_where_a_profile_says_so_and_its_floor_lowers() -> None:
    hot = a_load(a_class_load(200.0), a_class_load(150.0), utilisation=0.8)
    cold = a_load(a_class_load(1.0), utilisation=0.3)
    rules: dict[str, Any] = {
        "utilisation_alone": True, "utilisation_ceiling": 0.75, "utilisation_floor": 0.4,
        "stabilisation_s": 0.0,
    }  # fmt: skip

    assert spoke(decide(hot, **rules), ReasonCode.UTILISATION_HIGH).after == 5
    assert spoke(decide(cold, **rules), ReasonCode.UTILISATION_LOW).after == 3
    assert decide(cold, **rules).target == 3


def test_weighted_depth_is_held_against_its_target_with_hysteresis() -> None:
    weights = {Priority.HIGH: 3, Priority.MEDIUM: 2, Priority.LOW: 1}
    rules: dict[str, Any] = {
        "depth_target": 5.0, "depth_weights": weights, "depth_hysteresis": 0.5,
        "offered_ceiling": None, "depth_alone_falls": True,
    }  # fmt: skip

    # 3 x 4 + 2 x 3 + 1 x 3 = 21 over 4 replicas: 5.25 a replica, within 5.5
    within = a_load(a_class_load(1, 4), a_class_load(1, 3), a_class_load(1, 3))
    above = a_load(a_class_load(1, 5), a_class_load(1, 3), a_class_load(1, 3))  # 24: 6 a replica

    assert spoke(decide(within, **rules), ReasonCode.DEPTH_WITHIN).before == 4
    assert decide(within, **rules).target == 4
    assert spoke(decide(above, **rules), ReasonCode.DEPTH_ABOVE_TARGET).after == 5
