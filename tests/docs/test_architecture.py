"""docs/architecture.md says what the code is: its layers, its packages, its loops."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
LOOPS = re.findall(r"^\| (\w+) \| (\d+) s \|", PAGE, re.MULTILINE)


def test_every_package_has_its_line() -> None:
    packages = {
        path.stem
        for path in (ROOT / "controlplane").iterdir()
        if not path.name.startswith("_") and (path.is_dir() or path.suffix == ".py")
    }
    described = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))

    assert described == packages


def test_the_layers_are_those_that_are_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    drawn = PAGE.split("```")[1]

    def siblings(layer: str) -> set[str]:
        """Those in brackets may be absent: they are still to be built."""
        return {name for name in map(str.strip, layer.split("|")) if not name.startswith("(")}

    shown = [set(re.findall(r"\w+", part)) for part in drawn.split("->")]
    assert shown == [siblings(layer) for layer in layers]


@pytest.mark.parametrize(("name", "seconds"), LOOPS)
def test_a_loop_runs_as_often_as_is_said(name: str, seconds: str) -> None:
    assert float(seconds) == import_module(f"controlplane.loops.{name}").EVERY_S


def test_every_loop_has_its_line() -> None:
    wired = [path.read_text("utf-8") for path in (ROOT / "controlplane" / "daemon").glob("*.py")]

    assert len(LOOPS) == len(re.findall(r"\breconcile\(", "".join(wired)))
