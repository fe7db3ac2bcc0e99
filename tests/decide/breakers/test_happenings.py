"""Whatever happens to a breaker is a value: a stored change is decided on again identically."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.breakers.answers import Meaning
from controlplane.decide.breakers.breaker import CLOSED, Breaker, heard, probed
from controlplane.decide.breakers.happenings import (
    MARKS,
    Asked,
    BreakerSeen,
    Ends,
    Happening,
    LetIn,
    ProbeEnded,
    TakenOut,
    choice,
    decide_breaker,
    step,
)
from controlplane.decide.replay import decide_again
from controlplane.domain.decisions import Choice
from controlplane.domain.differences import differences
from controlplane.domain.overrides import Isolation
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import ReasonCode

CHAT = ModelName("chat")
POLICY = BreakerPolicy(failures=3, open_s=10.0)
HAPPENINGS = st.one_of(
    st.text("wbn", max_size=8).map(Ends),
    st.just(Asked()),
    st.sampled_from(list(Meaning)).map(ProbeEnded),
    st.just(TakenOut(Isolation(by="ops", at=1.0, why="corrupt weights"))),
    st.just(LetIn()),
)


def seen(before: Breaker, what: Happening, at: float = 7.0) -> BreakerSeen:
    return BreakerSeen(at=at, model=CHAT, before=before, policy=POLICY, happened=what)


def test_a_change_is_a_choice_like_every_other() -> None:
    made = decide_breaker(seen(CLOSED, Ends("wbbb")))

    assert isinstance(made, Choice)
    assert (made.current, made.target, made.decisive) == (1, 0, ReasonCode.BREAKER_OPENED)


def test_each_happening_is_the_rule_it_names() -> None:
    opened = heard(CLOSED, 7.0, [Meaning.BROKEN] * 3, POLICY)
    asked = step(seen(opened.breaker, Asked(), 17.0))

    assert step(seen(CLOSED, Ends("bbb"))) == opened
    assert asked.trail[0].code is ReasonCode.BREAKER_PROBING
    assert step(seen(asked.breaker, ProbeEnded(Meaning.BROKEN), 18.0)) == probed(
        asked.breaker, 18.0, Meaning.BROKEN, POLICY
    )


@given(st.lists(st.tuples(st.floats(0, 30), HAPPENINGS), max_size=40))
def test_every_change_is_decided_again_identically_from_what_was_stored(
    happened: list[tuple[float, Happening]],
) -> None:
    breaker, now = CLOSED, 0.0
    for pause, what in happened:
        now += pause
        one = seen(breaker, what, now)
        taken = step(one)
        stored = msgspec.json.encode(one)

        again = decide_again("breakers", stored)

        assert not list(differences(choice(one, taken), again))
        breaker = taken.breaker


def test_an_altered_input_shows() -> None:
    stored = msgspec.json.encode(seen(CLOSED, Ends("bbb")))

    again = decide_again("breakers", stored.replace(b'"bbb"', b'"bwb"'))

    assert again.trail == ()


def test_every_meaning_has_its_mark() -> None:
    assert sorted(MARKS) == sorted(Meaning)
