"""`controlplane gateway up` as people run it: it follows what they set in its store."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from controlplane.clock import stopwatch
from tests.cli.filled import MODEL, Said, in_force
from tests.emulation.stand import free_port
from tests.settings.fleet_text import SMALL

WITHIN_S = 20.0


@pytest.fixture
def gateway(folder: Path) -> Iterator[str]:
    """A gateway without Envoy before an emulated engine; gives its address."""
    fleet = folder / "fleet.yaml"
    fleet.write_text(SMALL)
    engine, port = free_port(), free_port()
    command = [sys.executable, "-m", "controlplane"]
    play = [*command, "emulate", "--port", str(engine), "--model", MODEL, "--engine", "other"]
    up = [*command, "gateway", "up", str(fleet), "--proxy", "--port", str(port)]
    at = ["--engine", f"{MODEL}=127.0.0.1:{engine}/4"]
    environment = {**os.environ, "CONTROLPLANE_DATA": str(folder)}
    with (
        subprocess.Popen(play, stdout=subprocess.PIPE) as played,
        subprocess.Popen([*up, *at], stdout=subprocess.PIPE, env=environment) as running,
    ):
        assert played.stdout is not None
        assert running.stdout is not None
        played.stdout.readline()
        assert b"gateway is up" in running.stdout.readline()
        yield f"http://127.0.0.1:{port}"
        for process in (running, played):
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0


def status(gateway: str) -> tuple[int, str]:
    asked = Request(f"{gateway}/models/{MODEL}/v1/completions", b'{"prompt": "hello"}')
    asked.add_header("Content-Type", "application/json")
    try:
        with urlopen(asked, timeout=20) as answer:  # loopback
            return answer.status, ""
    except HTTPError as refused:
        with refused:
            return refused.code, refused.headers.get("x-controlplane-reason", "")


def becomes(gateway: str, wanted: tuple[int, str]) -> bool:
    began = stopwatch()
    while stopwatch() - began < WITHIN_S:
        if status(gateway) == wanted:
            return True
    return False


@pytest.mark.slow
def test_an_isolated_model_is_refused_until_it_is_let_in(
    gateway: str, folder: Path, say: Said
) -> None:
    assert becomes(gateway, (200, ""))

    code, said, _ = say("isolate", MODEL, "--reason", "corrupt weights")
    assert (code, set(in_force(folder))) == (0, {MODEL})  # though no catalogue was ever in force
    assert "corrupt weights" in said
    assert becomes(gateway, (503, "breaker-open"))

    assert say("isolate", MODEL, "--off")[0] == 0
    assert becomes(gateway, (200, ""))
