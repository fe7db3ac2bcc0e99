"""Every code is worded in every language, whatever evidence came with it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.domain.reasons import Evidence, Reason, ReasonCode
from controlplane.render.sentences import (
    LANGUAGES,
    SENTENCES,
    explanation,
    headline,
    quantity,
    sentence,
    title,
)

NAMES = st.sampled_from(
    ["drain", "queue", "memory", "wait_p99_high", "winner", "replica", "wanted", "cold", "by"]
)
VALUES = st.one_of(
    st.none(),
    st.integers(0, 10**7),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text("abc", min_size=1, max_size=9),
)
EVIDENCE = st.lists(
    st.builds(Evidence, NAMES, VALUES, VALUES, st.sampled_from(["", "s", "/s", "GiB"])), max_size=4
).map(tuple)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_is_worded_in_every_language(language: str) -> None:
    assert set(SENTENCES[language]) == set(ReasonCode)


@pytest.mark.parametrize("language", LANGUAGES)
def test_titles_tell_codes_apart(language: str) -> None:
    titles = [title(code, language) for code in ReasonCode]

    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", ReasonCode)
def test_a_code_without_any_evidence_still_makes_a_whole_sentence(
    code: ReasonCode, language: str
) -> None:
    said = sentence(Reason(code, 2, 3), language)

    assert not re.search(r"[\[\]{}|…]", said), said
    assert said.endswith("。" if language == "zh" else ".")
    assert explanation(code, language).endswith("。" if language == "zh" else ".")
    assert "  " not in said


@pytest.mark.parametrize(("devices", "said"), [(1, "on 1 device "), (2, "on 2 devices ")])
def test_one_device_is_no_devices(devices: int, said: str) -> None:
    needed = Evidence("need", 40.0, 72.0, "GiB")
    fits = Reason(ReasonCode.FITS, 0, 0, (Evidence("devices", devices), needed))

    assert said in sentence(fits, "en")


@given(st.sampled_from(list(ReasonCode)), EVIDENCE, st.sampled_from(LANGUAGES))
def test_no_evidence_can_break_a_sentence(
    code: ReasonCode, evidence: tuple[Evidence, ...], language: str
) -> None:
    said = sentence(Reason(code, 1, 2, evidence), language)

    assert said
    assert "{" not in said


def test_a_raise_says_what_was_seen_and_the_limit() -> None:
    drain = Reason(ReasonCode.DRAIN_TOO_SLOW, 6, 7, (Evidence("drain", 41.0, 30.0, "s"),))

    said = headline("chat-70b", 6, 7, (drain,)).replace("\u00a0", " ")

    assert said == (
        "chat-70b goes from 6 to 7, because its queue would take 41 s to drain"
        " and 30 s is the limit."
    )


def test_a_raise_that_was_cut_says_what_cut_it() -> None:
    trail = (
        Reason(ReasonCode.DRAIN_TOO_SLOW, 6, 9, (Evidence("drain", 41.0, 30.0, "s"),)),
        Reason(ReasonCode.P99_WITHIN, 9, 9),
        Reason(ReasonCode.LOST_TO, 9, 7, (Evidence("winner", "legal-ft"),)),
    )

    said = headline("chat-70b", 6, 7, trail).replace("\u00a0", " ")

    assert said.endswith("; not to 9, because legal-ft got the last device.")


def test_a_hold_says_what_would_have_moved_it() -> None:
    trail = (
        Reason(ReasonCode.FEWER_SUFFICE, 6, 4, (Evidence("offered_load", 0.61, 0.85),)),
        Reason(ReasonCode.STABILISING, 4, 6, (Evidence("highest_wish", 6),)),
    )

    said = headline("chat-70b", 6, 6, trail).replace("\u00a0", " ")

    assert said.startswith("chat-70b stays at 6 instead of 4: fewer replicas suffice")
    assert "but 6 were wanted within the last minutes" in said


def test_something_that_happened_is_told_without_a_figure() -> None:
    promoted = Reason(ReasonCode.PROMOTED, 2, 2, (Evidence("replica", "chat-70b-a"),))

    assert headline("chat-70b", 2, 2, (promoted,)) == "chat-70b: chat-70b-a is put in service."


def test_chinese_says_the_same() -> None:
    drain = Reason(ReasonCode.DRAIN_TOO_SLOW, 6, 7, (Evidence("drain", 41.0, 30.0, "s"),))

    said = headline("chat-70b", 6, 7, (drain,), "zh").replace("\u00a0", " ")

    assert said == "chat-70b 从 6 增至 7，因为队列需要 41 s 才能排空，上限为 30 s。"


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (41.0, "s", "41 s"),
        (41.26, "s", "41.3 s"),
        (0.0113, "s", "11.3 ms"),
        (0, "s", "0 s"),
        (300, "s", "5 min"),
        (86400, "s", "24 h"),
        (0.875, "share", "87.5 %"),
        (140, "GiB", "140 GiB"),
        (3.5, "/s", "3.5/s"),
        (48213, "", "48\u202f213"),
        (4, "replicas", "4"),
        (float("nan"), "s", "?"),
        (None, "s", "–"),
        ("8.3.RC2", "", "8.3.RC2"),
    ],
)
def test_quantities_read_as_people_would_say_them(
    value: float | None, unit: str, expected: str
) -> None:
    assert quantity(value, unit).replace("\u00a0", " ") == expected
