"""YAML becomes a plain tree that loses nothing and knows where everything stood."""

from decimal import Decimal
from time import process_time

import pytest

from controlplane.domain.faults import FaultsError
from controlplane.settings.document import dotted, parse


def tree_of(text: str) -> object:
    return parse(text, "file.yaml").tree


def syntax_fault(text: str) -> str:
    with pytest.raises(FaultsError) as raised:
        parse(text, "file.yaml")
    return str(raised.value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("21.40", Decimal("21.40")),
        ("8.10", Decimal("8.10")),
        ("1e3", Decimal(1000)),
        (".5", Decimal("0.5")),
        ("010", 10),
        ("0x1F", 31),
        ("0o17", 15),
        ("1_000", 1000),
        ("-3", -3),
        ("no", "no"),
        ("true", True),
        ("~", None),
        ("2026-01-31", "2026-01-31"),
        ("12:30", "12:30"),
        ('"3"', "3"),
    ],
)
def test_a_value_is_what_it_says(written: str, value: object) -> None:
    assert tree_of(f"x: {written}") == {"x": value}


def test_a_price_keeps_its_digits_and_a_name_its_writing() -> None:
    document = parse("910: 21.40\n1.10: x", "file.yaml")

    assert document.tree == {"910": Decimal("21.40"), "1.10": "x"}
    assert document.written["910",] == "21.40"


def test_every_key_and_element_knows_its_line() -> None:
    document = parse("a: 1\nb:\n  - x\n  - c: 2\n    d: 3\n", "file.yaml")

    assert document.line(("a",)) == 1
    assert document.line(("b", 1)) == 4
    assert document.line(("b", 1, "d")) == 5
    assert document.line(("b", 1, "missing", "deeper")) == 4


def test_a_path_is_written_as_people_read_it() -> None:
    assert dotted(("models", "llama-70b", "tensor_parallel", 0)) == (
        "models.llama-70b.tensor_parallel[0]"
    )


def test_anchors_and_merges_are_understood_and_own_keys_win() -> None:
    tree = tree_of("base: &b {x: 1, y: 2}\nother:\n  <<: *b\n  y: 3\n")

    assert tree == {"base": {"x": 1, "y": 2}, "other": {"x": 1, "y": 3}}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "file.yaml:1: the file is empty"),
        ("# only a comment\n", "file.yaml:1: the file is empty"),
        ("a: 1\n\tb: 2\n", "file.yaml:2: b: 2: indented with a tab; YAML wants spaces"),
        ("a:\n  b: 1\n c: 2\n", "file.yaml:3: c: 2: is not YAML: "),
        ("a: [1, 2\n", "is not YAML: while parsing a flow sequence"),
        ("a: *nowhere\n", "file.yaml:1: a: *nowhere: is not YAML: found undefined alias"),
        ("a: 1\n---\nb: 2\n", "file.yaml:2: ---: is not YAML: expected a single document"),
        ("a: \x01\n", "file.yaml: is not YAML: "),
        ("a: &a [*a]\n", "nested deeper than 40"),
        ("[" * 1000, "file.yaml: is nested too deeply"),
    ],
)
def test_what_is_no_yaml_is_one_line(text: str, fault: str) -> None:
    said = syntax_fault(text)

    assert fault in said
    assert "\n" not in said


def test_aliases_of_aliases_do_not_eat_the_memory() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    assert "more than 300000 values" in syntax_fault("\n".join(lines))


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[{a: "])
def test_a_text_that_nests_without_end_is_refused_at_once(opening: str) -> None:
    """The scanner takes quadratic time over open brackets: nothing may wait for its end."""

    def seconds(times: int) -> float:
        began = process_time()
        assert "nested too deeply" in syntax_fault(opening * times)
        return process_time() - began

    assert seconds(50_000) < 5 * seconds(1_000) + 0.5


def test_a_name_may_be_given_to_another_anchor_later_on() -> None:
    assert tree_of("a: &x 1\nb: &x 2\nc: *x\n") == {"a": 1, "b": 2, "c": 2}
