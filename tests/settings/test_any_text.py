"""Whatever stands in a fleet file: it is good, or every fault is one line. Never a traceback."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.settings.fleet_text import SMALL, faults_of

LINES = SMALL.splitlines()
ODD = st.sampled_from(
    (
        *("", "~", "[]", "{}", "-1", "1e400", ".inf", "0x", "!!int x", "2026-01-01", "12:30"),
        *("&a [*a]", "*a", "'", "<<: 3", "{a: 1, a: 2}", "? [x]\n: 1", "\t", "- - -", "%"),
        *("null: null", "🦆"),
    )
)
FAULT = re.compile(r"fleet\.yaml(:\d+)?: \S.*")


@st.composite
def broken_fleets(draw: st.DrawFn) -> str:
    """Take the small fleet and put something odd into a line, or leave lines out."""
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 3))):
        index = draw(st.integers(0, len(lines) - 1))
        odd = draw(st.one_of(ODD, st.text(max_size=12)))
        key, colon, _ = lines[index].partition(":")
        lines[index] = draw(st.sampled_from(["", odd, f"{key}{colon} {odd}", lines[index] + odd]))
    return "\n".join(lines)


@settings(max_examples=150, deadline=None)
@given(broken_fleets())
@example("models: {<<: *x}")
@example("\ufeff")
@example("node_classes: {T4: 1}\nmodels: 3\npools: 4\npairs: [1]\nprofile: []\n")
def test_a_text_is_good_or_every_fault_is_a_line(text: str) -> None:
    assert [line for line in faults_of(text) if not FAULT.fullmatch(line)] == []


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_at_all_is_met_with_lines(text: str) -> None:
    assert [line for line in faults_of(text) if not FAULT.fullmatch(line)] == []
