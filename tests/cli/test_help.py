"""Every command explains itself, alike; and asking costs next to nothing."""

import os
import re
import subprocess
import sys

import click
import pytest

from controlplane import cli
from controlplane.shipped import shipped
from tests.cli.reference import every_command, help_of, page

EVERY = dict(every_command())
RUNNABLE = {name: of for name, of in EVERY.items() if not isinstance(of, click.Group)}
FOR_SCRIPTS = ("match", "place", "simulate", "explain", "decisions", "status", "check")

# What a command must not load: loaded modules are start-up time and memory.
ARRAYS, SOLVER, STORE, WEB, YAML = "numpy", "highspy", "sqlalchemy", "aiohttp", "ruamel"
NOT_NEEDED = {
    "check": (ARRAYS, SOLVER, STORE, WEB),
    "schema": (ARRAYS, SOLVER, STORE, WEB),
    "match": (ARRAYS, SOLVER, STORE, WEB),
    "place": (SOLVER, STORE, WEB),
    "simulate": (SOLVER, STORE, WEB),
    "decisions": (ARRAYS, SOLVER, WEB),
    "explain": (SOLVER, WEB),
    "pause": (ARRAYS, SOLVER, WEB),
    "migrate": (ARRAYS, SOLVER, WEB),
    "serve": (SOLVER,),
}


def test_docs_cli_is_what_the_commands_say() -> None:
    """Write it anew: make docs."""
    assert (shipped("docs") / "cli.md").read_text("utf-8") == page()


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_command_shows_how_it_is_called(name: str) -> None:
    said = help_of(name, EVERY[name])

    assert re.search(rf"Examples?:\s+controlplane {name}\b", said)


@pytest.mark.parametrize("name", RUNNABLE)
def test_every_option_is_explained(name: str) -> None:
    options = [each for each in EVERY[name].params if isinstance(each, click.Option)]

    assert [each.opts[0] for each in options if not each.help] == []


@pytest.mark.parametrize("name", FOR_SCRIPTS)
def test_scripts_get_json(name: str) -> None:
    assert any("--json" in parameter.opts for parameter in EVERY[name].params)


@pytest.mark.parametrize("name", EVERY)
def test_an_unknown_option_ends_with_2_and_names_it(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*name.split(), "--no-such-option"]) == 2

    said = capsys.readouterr().err
    assert "--no-such-option" in said
    assert f"Usage: controlplane {name}" in said


@pytest.mark.parametrize("name", NOT_NEEDED)
def test_a_command_loads_only_what_it_needs(name: str) -> None:
    unwanted = ", ".join(map(repr, NOT_NEEDED[name]))
    script = (
        f"import sys; from controlplane.cli import run; run(['{name}', '--help']); "
        f"sys.exit(' '.join({{{unwanted}}} & set(sys.modules)))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert ended.stderr.strip() == ""


def test_help_takes_less_than_half_a_second_of_the_processor() -> None:
    command = [sys.executable, "-m", "controlplane", "--help"]

    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()

    used = after.children_user - before.children_user
    used += after.children_system - before.children_system
    assert used < 0.5
