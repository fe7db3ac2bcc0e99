"""Any frozen dataclass can be read from YAML: unions, own rules, several faults at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import pytest
from annotated_types import Gt

from controlplane.domain.faults import FaultsError
from controlplane.domain.policies import STRICT
from controlplane.settings import read


@dataclass(frozen=True, kw_only=True)
class Steady:
    """A steady rate."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    kind: Literal["steady"]
    rate: Annotated[float, Gt(0)]


@dataclass(frozen=True, kw_only=True)
class Waves:
    """A rate that swings."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    kind: Literal["waves"]
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"low {self.low:g} is above high {self.high:g}")


@dataclass(frozen=True, kw_only=True)
class Load:
    """Rates by name."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    rates: Mapping[str, Steady | Waves]
    limit: float | None = None

    def __post_init__(self) -> None:
        if not self.rates:
            raise ValueError("there is no load at all")


def faults_of(text: str) -> list[str]:
    with pytest.raises(FaultsError) as raised:
        read(text, "load.yaml", Load)
    return list(raised.value.lines)


def test_a_good_text_becomes_the_frozen_value() -> None:
    load = read("rates:\n  a: {kind: steady, rate: 2.50}\n", "load.yaml", Load)

    assert load == Load(rates={"a": Steady(kind="steady", rate=2.5)})


def test_only_the_arm_that_was_meant_is_blamed() -> None:
    assert faults_of("rates:\n  a: {kind: steady, rate: 0}\n") == [
        "load.yaml:2: rates.a.rate: 0: must be above 0"
    ]
    assert faults_of("rates:\n  a: {kind: waves, low: 1}\n") == [
        "load.yaml:2: rates.a.high: is missing and has no default"
    ]


def test_a_kind_that_does_not_exist_is_blamed_itself() -> None:
    faults = faults_of("rates:\n  a:\n    kind: stedy\n    rate: 1\n")

    assert "load.yaml:3: rates.a.kind: stedy: must be steady; did you mean steady?" in faults


def test_a_rule_of_the_value_itself_is_placed_at_the_field_it_begins_with() -> None:
    faults = faults_of("rates:\n  a:\n    kind: waves\n    high: 1\n    low: 3\n")

    assert faults == ["load.yaml:5: rates.a.low: 3: low 3 is above high 1"]


def test_a_rule_that_begins_with_no_field_is_placed_at_the_whole() -> None:
    assert faults_of("limit: 3\nrates: {}\n") == ["load.yaml:1: there is no load at all"]


def test_a_text_that_is_no_mapping_is_one_fault() -> None:
    assert faults_of("- a\n- b\n") == [
        "load.yaml:1: […]: must be a mapping, one `field: value` a line"
    ]
    assert faults_of("just words") == [
        "load.yaml:1: just words: must be a mapping, one `field: value` a line"
    ]


def test_reading_again_gives_an_equal_value() -> None:
    text = "rates: {a: {kind: steady, rate: 1}}"

    assert read(text, "one", Load) == read(text, "other", Load)
