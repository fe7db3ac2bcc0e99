from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.breakers.answers import Answer, Meaning, meaning
from controlplane.decide.breakers.breaker import (
    CLOSED,
    Breaker,
    State,
    ask,
    heard,
    isolate,
    open_for,
    probed,
    rejoin,
    retry_after_s,
)
from controlplane.domain.overrides import Isolation
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.reasons import ReasonCode

POLICY = BreakerPolicy()
BY_HAND = Isolation(by="ops", at=0.0, why="corrupt weights")
BROKEN = meaning(Answer(status=503))
BUSY = meaning(Answer(status=503, busy=True))
MEANINGS = st.sampled_from(list(Meaning))


def opened(at: float = 0.0) -> Breaker:
    return heard(CLOSED, at, [Meaning.BROKEN] * 5, POLICY).breaker


def test_a9_a_hundred_429_leave_it_closed() -> None:
    answers = [meaning(Answer(status=429))] * 100

    assert heard(CLOSED, 0.0, answers, POLICY).breaker.passing


def test_a9_five_503_that_mean_broken_open_it() -> None:
    step = heard(CLOSED, 7.0, [BROKEN] * 5, POLICY)

    assert step.breaker.state is State.OPEN
    assert step.breaker.until == 37.0
    assert step.trail[0].code is ReasonCode.BREAKER_OPENED


def test_a9_busy_503_of_an_engine_with_a_full_queue_count_for_nothing() -> None:
    assert heard(CLOSED, 0.0, [BUSY] * 100, POLICY).breaker.passing
    assert heard(CLOSED, 0.0, [*[BROKEN, BUSY] * 4, BROKEN], POLICY).breaker.state is State.OPEN


def test_a_good_answer_begins_the_count_anew() -> None:
    four = [Meaning.BROKEN] * 4

    assert heard(CLOSED, 0.0, [*four, Meaning.WELL, *four], POLICY).breaker.failures == 4


def test_timeouts_and_resets_count_the_clients_mistakes_and_departures_do_not() -> None:
    assert meaning(Answer(timed_out=True)) is Meaning.BROKEN
    assert meaning(Answer(reset=True)) is Meaning.BROKEN
    assert meaning(Answer(status=504)) is Meaning.BROKEN
    assert meaning(Answer(status=400)) is Meaning.WELL
    assert meaning(Answer(status=501)) is Meaning.WELL
    assert meaning(Answer(status=200, client_left=True)) is Meaning.NEITHER
    assert meaning(Answer(reset=True, client_left=True)) is Meaning.NEITHER
    assert meaning(Answer()) is Meaning.NEITHER


def test_an_open_breaker_refuses_until_its_time_then_lets_one_probe_through() -> None:
    breaker = opened()

    early = ask(breaker, 29.9, POLICY)
    probe = ask(breaker, 30.0, POLICY)
    second = ask(probe.breaker, 30.0, POLICY)

    assert (early.allowed, early.breaker) == (False, breaker)
    assert (probe.allowed, probe.probe) == (True, True)
    assert probe.trail[0].code is ReasonCode.BREAKER_PROBING
    assert not second.allowed


def test_the_probe_closes_it_or_opens_it_for_twice_as_long() -> None:
    half = ask(opened(), 30.0, POLICY).breaker

    closed = probed(half, 31.0, Meaning.WELL, POLICY)
    again = probed(half, 31.0, Meaning.BROKEN, POLICY)

    assert closed.breaker.passing
    assert closed.trail[0].code is ReasonCode.BREAKER_CLOSED
    assert again.breaker.until == 31.0 + 60.0
    assert again.trail[0].code is ReasonCode.BREAKER_REOPENED
    assert open_for(99, POLICY) == POLICY.open_limit_s


def test_a_lost_probe_makes_room_for_another() -> None:
    half = ask(opened(), 30.0, POLICY).breaker

    assert not ask(half, 89.9, POLICY).allowed
    assert ask(half, 90.0, POLICY).probe
    assert ask(probed(half, 40.0, Meaning.NEITHER, POLICY).breaker, 40.0, POLICY).probe


def test_what_began_before_it_opened_neither_closes_nor_opens_it() -> None:
    half = ask(opened(), 30.0, POLICY).breaker

    assert heard(half, 31.0, [Meaning.WELL] * 9, POLICY).breaker == half
    assert heard(opened(), 1.0, [Meaning.BROKEN] * 9, POLICY).breaker == opened()
    assert probed(opened(), 1.0, Meaning.WELL, POLICY).breaker == opened()


def test_an_isolated_model_stays_out_until_a_person_lets_it_in() -> None:
    out = isolate(CLOSED, 1.0, BY_HAND)

    assert out.trail[0].code is ReasonCode.ISOLATED
    assert [(seen.name, seen.value) for seen in out.trail[0].evidence] == [
        ("by", "ops"),
        ("why", "corrupt weights"),
    ]
    assert not ask(out.breaker, 1e9, POLICY).allowed
    assert retry_after_s(out.breaker, 1.0, POLICY) == 31
    assert isolate(out.breaker, 2.0, BY_HAND).trail == ()
    back = rejoin(out.breaker, 5.0)
    assert back.breaker.passing
    assert back.trail[0].code is ReasonCode.REJOINED
    assert rejoin(CLOSED, 5.0).trail == ()


def test_a_policy_without_a_limit_never_opens() -> None:
    never = BreakerPolicy(failures=None)

    assert heard(CLOSED, 0.0, [Meaning.BROKEN] * 999, never).breaker.passing


@given(st.lists(st.tuples(st.floats(0, 50), st.lists(MEANINGS, max_size=6), MEANINGS), max_size=40))
def test_at_most_one_probe_is_under_way_and_the_trail_tells_every_change(
    events: list[tuple[float, list[Meaning], Meaning]],
) -> None:
    breaker, now, probes = CLOSED, 0.0, 0
    for pause, ends, end_of_probe in events:
        now += pause
        before = breaker
        step = heard(breaker, now, ends, POLICY)
        assert bool(step.trail) == (step.breaker.state is not before.state)
        breaker = step.breaker
        leaves = []
        for _ in range(3):
            leave = ask(breaker, now, POLICY)
            leaves.append(leave)
            breaker = leave.breaker
        sent = sum(leave.probe for leave in leaves)
        probes += sent
        assert sent <= 1
        assert all(leave.allowed == (breaker.passing or leave.probe) for leave in leaves)
        if sent:
            breaker = probed(breaker, now, end_of_probe, POLICY).breaker
        assert breaker.failures < 5
        assert retry_after_s(breaker, now, POLICY) >= 1


@given(st.lists(st.sampled_from([Meaning.WELL, Meaning.NEITHER]), max_size=200))
def test_nothing_but_broken_answers_ever_opens_it(ends: list[Meaning]) -> None:
    assert heard(CLOSED, 0.0, ends, BreakerPolicy(failures=1)).breaker.passing


@given(st.lists(MEANINGS, max_size=60), st.integers(0, 60))
def test_how_ends_are_batched_makes_no_difference(ends: list[Meaning], cut: int) -> None:
    once = heard(CLOSED, 1.0, ends, POLICY).breaker
    first = heard(CLOSED, 1.0, ends[:cut], POLICY).breaker

    assert heard(first, 1.0, ends[cut:], POLICY).breaker == once
