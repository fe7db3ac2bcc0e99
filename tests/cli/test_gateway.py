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
        (("--engine", "chat-70b=127.0.0.1:8000/0"), "8000/0 is not MODEL=HOST:PORT"),
        (("--engine", "chat-70b=127.0.0.1:" + "9" * 5000), "is not MODEL=HOST:PORT"),
        (("--host", "0.0.0.0"), "--host: 0.0.0.0: is not this machine"),
        (("--host", "localhost"), "--host: localhost: must be an IP address"),
        (("--workers", "0"), "0 is not in the range 1<=x<=64"),
        (("--port", "70000"), "70000 is not in the range 1<=x<=65535"),
        (("--metrics-port", "-5"), "-5 is not in the range 1<=x<=65535"),
        (("--metrics-port", "10080"), "--metrics-port: 10080: is the port of the requests"),
        (("--envoy", "/no/envoy"), "'/no/envoy' does not exist"),
        (("--folder", "/etc/passwd"), "'/etc/passwd' is a file"),
        (("--folder", "/proc/here"), "gateway: folder: /proc/here: cannot be made"),
        (("--shared", "valkey:6379"), "--shared: valkey:6379: must be redis://HOST:PORT"),
        (("--shared", "redis://:s3cret@v:1"), "--shared: redis://:***@v:1: must hold no password"),
        (("--shared-file", "/no/file"), "--shared-file: /no/file: cannot be read: No such file"),
        (("--shared", "redis://v", "--shared-file", "x"), "give either --shared or --shared-file"),
    ],
)
def test_what_is_wrong_is_said_before_anything_starts(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    code, told = called("gateway", "up", FLEET, "--data", str(tmp_path), *words)

    assert code != 0
    assert said in told
    assert "s3cret" not in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("key", "", "--class", "low"), "NAME: must be letters, digits and . _ @ -"),
        (("key", "a\nb", "--class", "low"), "must be letters, digits and . _ @ -"),
        (("key", "web", "--class", "low", "--tenant", "a b"), "--tenant: a b: must be letters"),
        (("key", "web", "--class", "low", "--model", ""), "--model: is no model's name"),
        (("leave", "--folder", "x", "--leave-s", "nan"), "nan is not finite"),
        (("leave", "--folder", "x", "--within-s", "-1"), "-1.0 is not in the range 0<=x<=604800"),
        (("envoy", "--folder", "x", "--concurrency", "0"), "0 is not in the range 1<=x<=64"),
        (
            ("join", "--folder", "x", "--daemon", "http://d", "--host", "pod"),
            "--host: pod: must be an IP address",
        ),
        (
            ("join", "--folder", "x", "--daemon", "http://d", "--host", "::1", "--shared", "x"),
            "--shared: x: must be redis://HOST:PORT",
        ),
        (("render", FLEET, "--folder", "x", "--ticket", ""), "--ticket: is empty"),
        (
            ("render", FLEET, "--folder", "x", "--ticket", "t", "--admission", "here"),
            "--admission: here: must be HOST:PORT",
        ),
    ],
)
def test_what_is_wrong_with_the_other_commands_is_said_too(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTROLPLANE_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    code, told = called("gateway", *words)

    assert code != 0
    assert said in told
    assert list(tmp_path.iterdir()) == []
