"""How a target moves: pending counts, steps, stabilisation, cooldowns, bounds."""

import msgspec
import pytest

from controlplane.decide.scaling.decision import decide_scale
from controlplane.decide.scaling.inputs import Span
from controlplane.domain.decisions import Choice
from controlplane.domain.load import silent
from controlplane.domain.overrides import Override
from controlplane.domain.policies import ModelPolicy, Objective, ScalingPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.reasons import ReasonCode
from tests.builders import CHAT, NOW, a_class_load, a_load, a_policy, an_input
from tests.decide.scaling.timeline import Timeline

BUSY = a_load(a_class_load(200.0), a_class_load(150.0))  # 43.75 busy slots: 4 replicas of 14


def codes(choice: Choice) -> list[ReasonCode]:
    return [reason.code for reason in choice.trail]


def test_t1_the_same_load_with_replicas_still_loading_does_not_cascade() -> None:
    slow = a_load(a_class_load(200.0, 60.0, wait=0.4), a_class_load(150.0, wait=0.5))
    line = Timeline(2, ready_after=30)

    first = line.cycle(slow)
    assert first > 2
    assert {line.cycle(slow) for _ in range(10)} <= {first, 4}
    assert line.target == 4  # 43.75 slots of work, 14 slots each


def test_t2_one_serving_and_five_loading_is_a_target_of_six() -> None:
    choice = decide_scale(an_input(a_load(a_class_load(500.0)), target=6, serving=1, loading=5))

    assert choice.target == 6


def test_t2_what_loads_is_the_base_also_where_nothing_is_known_and_nothing_new_comes() -> None:
    unknown = decide_scale(an_input(silent(CHAT, NOW), target=6, serving=1, loading=5))
    calm = decide_scale(an_input(a_load(a_class_load(50.0)), target=6, serving=1, loading=5))
    fresh = decide_scale(an_input(silent(CHAT, NOW), target=None, serving=1, loading=5))

    # What was needed up to now stands for the window, however little comes in this cycle.
    assert (unknown.target, calm.target, fresh.target) == (6, 6, 6)
    assert (unknown.current, calm.current, fresh.current) == (6, 6, 6)


def test_law_12_a_guard_holds_a_fall_back_but_never_makes_a_rise_of_it() -> None:
    """Eight were wished for and four were given: when the load is gone it stays at four."""
    calm = an_input(a_load(a_class_load(1.0)), target=4)
    memory = msgspec.structs.replace(calm.memory, wishes=(Span(NOW - 500.0, NOW - 5.0, 8),))

    choice = decide_scale(msgspec.structs.replace(calm, memory=memory))

    assert choice.target == 4
    assert choice.decisive is ReasonCode.STABILISING


def test_a_burst_is_sized_from_what_arrives_not_from_what_is_ready() -> None:
    burst = a_load(
        a_class_load(200.0), a_class_load(150.0), a_class_load(800.0, 200.0, turned_away=700.0)
    )
    policy = a_policy(min=4, max=12, cold_step_share=None)
    line = Timeline(4, policy, ready_after=20)

    # (200 + 150 + 800) x 0.125 s = 143.75 busy slots; 14 slots each: 10.27, so 11.
    assert line.cycle(burst) == 11
    assert line.cycle(burst, 10) == 11
    assert line.choices[0].trail[0].code == ReasonCode.TURNED_AWAY


def test_cold_creations_are_limited_per_period_and_then_continue() -> None:
    burst = a_load(a_class_load(1150.0, 200.0, turned_away=700.0))
    line = Timeline(4, a_policy(min=4, max=12), ready_after=100)

    assert line.cycle(burst) == 6  # half of 4, at least 2
    assert ReasonCode.COLD_STEP_ONLY in line.codes
    assert line.cycle(burst, 2) == 6  # 10 s later: the same 15 s
    assert line.cycle(burst) == 9  # half of 6


def test_what_is_warm_is_promoted_without_a_step_limit() -> None:
    burst = a_load(a_class_load(1150.0, 200.0, turned_away=700.0))
    seen = an_input(burst, target=4, promotable=6, policy=a_policy(min=4, max=12))

    assert decide_scale(seen).target == 11  # 6 promoted, 1 of 2 allowed cold ones


def test_it_falls_only_to_the_highest_wish_of_the_window() -> None:
    line = Timeline(8)
    line.cycle(a_load(a_class_load(700.0)), 30)
    assert line.target == 8

    assert line.cycle(BUSY, 20) == 8  # 100 s: the window (120 s) still remembers
    assert ReasonCode.STABILISING in line.codes
    assert line.cycle(BUSY, 6) == 4


def test_survivors_that_would_break_their_promise_are_not_proposed() -> None:
    # 3 replicas would be loaded to 1.04: 4 stay, though nothing queues and nobody waits.
    line = Timeline(4)

    assert line.cycle(BUSY, 100) == 4
    held = line.choices[-1].trail[-1]
    assert held.code is ReasonCode.SURVIVORS_WOULD_BREAK
    assert held.evidence[0].value == pytest.approx(43.75 / 42)


def test_a_promised_wait_that_fewer_would_break_keeps_them_although_load_would_allow() -> None:
    # One replica would be loaded to 0.84, under its ceiling. By Erlang C 43 of 100 would then wait,
    # for 56 ms on average: 7 of 100 longer than 0.1 s, none worth speaking of longer than a second.
    def decide(limit_s: float) -> int:
        policy = ModelPolicy(
            objectives={Priority.HIGH: Objective(wait_p99_s=limit_s)},
            scaling=ScalingPolicy(min=1, max=8, stabilisation_s=0.0),
        )
        return decide_scale(an_input(a_load(a_class_load(94.0)), target=3, policy=policy)).target

    assert decide(0.1) == 2
    assert decide(1.0) == 1


def test_a_fall_says_how_loaded_those_that_stay_will_be() -> None:
    choice = decide_scale(an_input(BUSY, target=6, policy=a_policy(stabilisation_s=0.0)))

    assert choice.target == 4
    assert codes(choice)[-1] == ReasonCode.FEWER_SUFFICE
    assert choice.trail[-1].evidence[0].value == pytest.approx(43.75 / 56)


def test_t7_a_cooldown_survives_a_restart_and_ends_when_it_would_have() -> None:
    line = Timeline(4, a_policy(cooldown_s=300.0, stabilisation_s=0.0, min=1, max=12))
    line.cycle(a_load(a_class_load(700.0)))
    raised_at = line.now
    assert line.target > 4
    line.cycle(BUSY, 20)
    line.restart()

    while line.now < raised_at + 295.0:
        line.cycle(BUSY)
        assert ReasonCode.COOLING_DOWN in line.codes
    line.cycle(BUSY)
    assert line.target == 4


def test_a_cooldown_of_both_directions_also_holds_a_rise() -> None:
    line = Timeline(4, a_policy(cooldown_s=300.0, cooldown_up=True, min=1, max=12, step_up=1))
    heavy = a_load(a_class_load(900.0))

    assert line.cycle(heavy) == 5
    assert line.cycle(heavy, 59) == 5
    assert line.cycle(heavy, 2) == 6


def test_a_step_of_one_moves_one_per_period() -> None:
    line = Timeline(4, a_policy(step_up=1, step_period_s=15.0, max=12))
    heavy = a_load(a_class_load(900.0))

    assert [line.cycle(heavy) for _ in range(7)] == [5, 5, 5, 6, 6, 6, 7]
    assert ReasonCode.STEP_ONLY in line.codes


def test_bounds_clamp_whatever_was_wished() -> None:
    line = Timeline(8)

    assert line.cycle(a_load(a_class_load(5_000.0, turned_away=900.0)), 9) == 8
    assert line.codes[-1] == ReasonCode.ABOVE_MAXIMUM


def test_a_pin_stands_above_the_rules_and_within_the_bounds() -> None:
    def pinned(to: int) -> Choice:
        pin = Override(subject="chat", pinned=to, by="ann", at=NOW)
        return decide_scale(an_input(BUSY, override=pin))

    assert pinned(7).target == 7
    assert codes(pinned(7))[-1] == ReasonCode.PINNED
    assert pinned(70).target == 8


def test_a_pause_holds_the_target_and_shows_what_it_would_have_been() -> None:
    pause = Override(subject="*", paused=True, by="ann", at=NOW)
    choice = decide_scale(an_input(a_load(a_class_load(900.0)), override=pause))

    assert choice.target == 4
    assert codes(choice)[-1] == ReasonCode.PAUSED
    assert choice.trail[-1].before > 4


@pytest.mark.parametrize("target", [None, 3])
def test_a_first_decision_takes_what_is_there_for_what_is_wanted(target: int | None) -> None:
    choice = decide_scale(an_input(a_load(a_class_load(100.0)), target=target, serving=3))

    assert choice.current == 3
