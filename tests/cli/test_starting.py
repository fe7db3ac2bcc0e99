"""A daemon that cannot start says why in one line, ends with the right code and leaves no trace."""

import os
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from controlplane.adapters.sql.address import FILE_NAME
from controlplane.adapters.sql.ownership import sole_daemon
from tests.settings.fleet_text import SMALL

FAILED, WRONG_INPUT = 1, 2


def serve(folder: Path, *options: str) -> tuple[int, list[str]]:
    """Run the real command to its end; give its exit code and what it said."""
    ended = subprocess.run(
        [sys.executable, "-m", "controlplane", "serve", *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "CONTROLPLANE_DATA": str(folder), "PYTHONWARNINGS": "default"},
    )
    return ended.returncode, (ended.stdout + ended.stderr).splitlines()


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(SMALL)
    return path


def versions(folder: Path) -> int:
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        found: tuple[int] = connection.execute("SELECT count(*) FROM catalogues").fetchone()
        return found[0]


def test_a_port_in_use_is_one_line(tmp_path: Path, fleet: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = serve(tmp_path / "data", "--config", str(fleet), "--port", str(port))

    assert code == FAILED
    assert len(said) == 1, said
    assert f"port: 127.0.0.1:{port} cannot be listened on" in said[0]


def test_a_scaler_s_port_in_use_is_one_line(tmp_path: Path, fleet: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        options = ["--config", str(fleet), "--port", "0", "--log", "error", "--scaler", where]
        code, said = serve(tmp_path / "data", *options)

    assert code == FAILED
    assert len(said) == 1, said
    assert f"keda: {where} cannot be listened on" in said[0]


def test_a_folder_another_daemon_uses_is_one_line(tmp_path: Path, fleet: Path) -> None:
    with sole_daemon(tmp_path / "data"):
        code, said = serve(tmp_path / "data", "--config", str(fleet), "--port", "0")

    assert code == FAILED
    assert len(said) == 1, said
    assert f"is in use by another daemon (process {os.getpid()})" in said[0]


def test_t5_a_fleet_file_with_faults_is_not_stored_as_a_version(
    tmp_path: Path, fleet: Path
) -> None:
    data = tmp_path / "data"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        serve(data, "--config", str(fleet), "--port", port)  # as far as the port, so with a store
    assert versions(data) == 1

    fleet.write_text(SMALL.replace("{min: 1, max: 3}", "{min: 50, max: 10}"))
    code, said = serve(data, "--config", str(fleet), "--port", "0")

    assert code == WRONG_INPUT
    assert len(said) == 1, said
    assert "models.classifier.policy.scaling.min: 50: must not be above max, which is 10" in said[0]
    assert versions(data) == 1


GATEWAYS = {
    "127.0.0.1:1": "127.0.0.1:1: needs --kubeconfig: "
    "the engines of the embedded cluster are simulated",
    "0.0.0.0:10080": "0.0.0.0: is not this machine: set gateway.require_key in the fleet file, or "
    "trust: headers",
    "10080": "10080: is no HOST:PORT such as controlplane-scaler.controlplane:50051",
}


@pytest.mark.parametrize(("address", "why"), GATEWAYS.items())
def test_a_gateway_that_cannot_be_is_refused_in_one_line(
    address: str, why: str, tmp_path: Path, fleet: Path
) -> None:
    at = ["--config", str(fleet), "--port", "0", "--gateway", address]
    assert serve(tmp_path / "data", *at) == (WRONG_INPUT, [f"--gateway: {why}"])
