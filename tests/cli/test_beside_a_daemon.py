"""Commands beside a running daemon: it obeys within one cycle, and tells how it is."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

import pytest

from controlplane.adapters.sql.address import FILE_NAME
from controlplane.clock import stopwatch
from tests.cli.filled import MODEL, Said
from tests.settings.fleet_text import SMALL

SPEED = 20.0
WITHIN_S = 30.0  # a cycle takes a quarter of a second; a busy machine takes its time


@pytest.fixture
def daemon(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A real daemon in a process of its own; gives its address."""
    fleet = folder / "fleet.yaml"
    fleet.write_text(SMALL)
    options = ["--config", str(fleet), "--port", "0", "--speed", str(SPEED), "--log", "error"]
    with subprocess.Popen(
        [sys.executable, "-m", "controlplane", "serve", *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "CONTROLPLANE_DATA": str(folder)},
    ) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        monkeypatch.delenv("CONTROLPLANE_URL", raising=False)  # it is found by its store
        yield found[0]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def endings_since(folder: Path, number: int) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        query = "SELECT loop, decisive FROM decisions WHERE id > ? ORDER BY id"
        return connection.execute(query, [number]).fetchall()


def newest(folder: Path) -> int:
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        found: tuple[int] = connection.execute("SELECT max(id) FROM decisions").fetchone()
        return found[0] or 0


def wait_for(folder: Path, after: int, decided: tuple[str, str], limit_s: float) -> bool:
    began = stopwatch()
    while stopwatch() - began < limit_s:
        if decided in endings_since(folder, after):
            return True
    return False


def paused_by(say: Said, limit_s: float) -> str:
    began = stopwatch()
    while stopwatch() - began < limit_s:
        (model,) = json.loads(say("status", "--json")[1])["models"]
        if model["paused_by"]:
            return str(model["paused_by"])
    return ""


@pytest.mark.slow
def test_a_daemon_obeys_and_tells(daemon: str, folder: Path, say: Said) -> None:
    with urlopen(f"{daemon}/api/v1/scenarios") as answer:  # in its very first second
        assert "seed-000" in json.load(answer)["scenarios"]

    assert wait_for(folder, 0, ("scaling", "BelowMinimum"), WITHIN_S) or newest(folder)

    told = json.loads(say("status", "--json")[1])
    assert (told["source"], told["daemon"]["url"], told["daemon"]["status"]) == (
        "daemon",
        daemon,
        "ok",
    )
    assert [model["model"] for model in told["models"]] == [MODEL]

    before = newest(folder)
    assert say("pin", MODEL, "3")[0] == 0
    assert wait_for(folder, before, ("scaling", "Pinned"), WITHIN_S)

    before = newest(folder)
    assert say("pin", MODEL, "--off")[0] == 0
    assert say("pause", MODEL)[0] == 0
    assert wait_for(folder, before, ("scaling", "Paused"), WITHIN_S)
    # What is shown is looked up once a second for everybody, so it may be that old.
    assert paused_by(say, WITHIN_S).endswith("(command line)")

    before = newest(folder)
    assert say("isolate", MODEL, "--reason", "corrupt weights")[0] == 0
    assert wait_for(folder, before, ("breakers", "Isolated"), WITHIN_S)
    assert state_of_its_breaker(daemon) == ("isolated", "corrupt weights")
    assert say("isolate", MODEL, "--off")[0] == 0
    assert wait_for(folder, before, ("breakers", "Rejoined"), WITHIN_S)

    told = json.loads(say("decisions", "--json")[1])
    decided = [row for row in told if row["loop"] in {"scaling", "breakers"}]
    replays = [json.loads(say("explain", str(row["id"]), "--json")[1])["replay"] for row in decided]
    assert {row["loop"] for row in decided} == {"scaling", "breakers"}
    assert set(replays) == {"identical"}


def state_of_its_breaker(daemon: str) -> tuple[str, str]:
    with urlopen(f"{daemon}/api/v1/breakers?model={MODEL}") as answer:
        (row,) = json.load(answer)
        return row["state"], row["isolated_why"]
