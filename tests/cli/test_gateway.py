"""`controlplane gateway`: keys, rendered files, what is refused."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from controlplane.cli import commands, ending
from controlplane.shipped import shipped

FLEET = str(shipped("examples") / "fleet.yaml")


def called(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(commands, words)
    said = done.output if done.exception is None else done.output + ending(done.exception)[0]
    return done.exit_code, said


def test_a_key_is_shown_once_listed_without_its_secret_and_taken_away(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path))
    code, said = called("gateway", "key", "web", "--class", "high", "--model", "chat-70b", *data)
    assert code == 0
    assert said.startswith("cp_")

    listed = json.loads(called("gateway", "keys", "--json", *data)[1])
    assert listed == [{"name": "web", "priority": "high", "tenant": "", "models": ["chat-70b"]}]
    assert "exists already" in called("gateway", "key", "web", "--class", "low", *data)[1]
    assert called("gateway", "revoke", "web", *data)[0] == 0
    assert "there is no key named web" in called("gateway", "revoke", "web", *data)[1]


def test_envoys_files_are_written_for_an_envoy_elsewhere(tmp_path: Path) -> None:
    folder = ("--folder", str(tmp_path / "envoy"), "--ticket", "s3cret")
    name = next(iter(json.loads(called("match", FLEET, "--json")[1])))
    engine = ("--engine", f"{name}=127.0.0.1:8000/3")

    code, said = called("gateway", "render", FLEET, *engine, *folder)

    assert code == 0
    assert "bootstrap.json" in said
    found = json.loads((tmp_path / "envoy" / "eds" / f"{name}.json").read_text())
    (zone,) = found["resources"][0]["endpoints"]
    assert zone["lb_endpoints"][0]["load_balancing_weight"] == 3
    assert called("gateway", "render", FLEET, *engine, *folder)[1] == ""  # nothing has changed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "nobody=127.0.0.1:8000"), "--engine: nobody: is no model of the fleet file"),
        (("--engine", "x"), "x is not MODEL=HOST:PORT or MODEL=HOST:PORT/SLOTS"),
        (("--host", "0.0.0.0"), "--host: 0.0.0.0: is not this machine"),
    ],
)
def test_what_is_wrong_is_said_before_anything_starts(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    code, told = called("gateway", "up", FLEET, "--data", str(tmp_path), *words)

    assert code != 0
    assert said in told
