"""`controlplane check` and `controlplane schema`, as scripts and editors use them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import jsonschema
import pytest

from controlplane.cli import run
from controlplane.shipped import shipped
from tests.settings.fleet_text import SMALL, with_line

WRONG = with_line(22, "scaling: {min: 50, max: 10}", with_line(5, "vram: 16"))

Write: TypeAlias = Callable[[str], str]


@pytest.fixture
def fleet(tmp_path: Path) -> Write:
    def write(text: str) -> str:
        file = tmp_path / "fleet.yaml"
        file.write_text(text)
        return str(file)

    return write


def test_a_good_file_is_summed_up(fleet: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = fleet(SMALL)

    assert run(["check", file]) == 0
    assert capsys.readouterr().out == f"{file}: good: 1 model, 1 node class, 4 devices, 1 zone\n"


def test_every_fault_is_a_line_and_the_exit_code_is_2(
    fleet: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    file = fleet(WRONG)

    assert run(["check", file]) == 2

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        f"{file}:2: node_classes.T4.vram_gib: is missing and has no default",
        f"{file}:5: node_classes.T4.vram: 16: is not known; did you mean vram_gib?",
    ]


def test_t10_a_warning_is_shown_and_the_file_accepted(
    fleet: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    file = fleet(with_line(22, "scaling: {stabilisation_s: 60}"))

    assert run(["check", file]) == 0

    said = capsys.readouterr()
    assert said.err.startswith(f"warning: {file}:22: models.classifier.policy.scaling")
    assert "good: " in said.out


def test_scripts_read_faults_as_json(fleet: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """T5: both values are named."""
    file = fleet(with_line(22, "scaling: {min: 50, max: 10}"))

    assert run(["check", file, "--json"]) == 2
    assert json.loads(capsys.readouterr().out) == {
        "file": file,
        "ok": False,
        "faults": [
            {
                "file": file,
                "line": 22,
                "field": "models.classifier.policy.scaling.min",
                "value": "50",
                "rule": "must not be above max, which is 10",
            }
        ],
    }


def test_scripts_read_a_good_file_as_json(fleet: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", fleet(SMALL), "--json"]) == 0

    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["faults"], answer["warnings"]) == (True, [], [])


def test_a_file_that_is_not_there_is_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "/no/such.yaml"]) == 2
    assert capsys.readouterr().err == "/no/such.yaml: cannot be read: No such file or directory\n"


def test_the_example_that_ships_is_good(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(shipped("examples") / "fleet.yaml")]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("kind", ["fleet", "scenario"])
def test_the_schema_of_each_kind_is_a_json_schema(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["schema", "--kind", kind]) == 0

    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert kind in schema["title"]


def test_the_reference_is_printed_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("# Settings\n")
