"""The daemon as it is deployed: under systemd's eyes, as nobody, on a root it cannot write."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from controlplane.clock import stopwatch
from tests.settings.fleet_text import SMALL

FLEET = Path(__file__).parents[2] / "deploy" / "examples" / "fleet.yaml"

NOBODY = "65532"
WATCHDOG_S = 3.0
# In a mount namespace of its own: nothing can be written but a file system of its own.
CONFINE = """
set -e
mount --make-rprivate /
mount -o remount,bind,ro /
if touch /written 2>/dev/null; then echo "the root can be written"; exit 1; fi
mount -t tmpfs -o mode=1777 tmpfs /mnt
mkdir /mnt/store && chown {nobody}:{nobody} /mnt/store
exec setpriv --reuid {nobody} --regid {nobody} --clear-groups --no-new-privs --bounding-set=-all \
  {command}
"""
PR_SET_MDWE, REFUSE_EXEC_GAIN = 65, 1  # what MemoryDenyWriteExecute=yes asks for, by the kernel


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(SMALL)
    return path


@contextmanager
def running(command: list[str], **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        try:
            said = []
            assert process.stdout is not None
            for line in process.stdout:
                said.append(line)
                if "controlplane is up at" in line:
                    yield process, line.split()[-1]
                    break
            else:
                raise AssertionError("".join(said))
        finally:
            process.kill()


def serve(fleet: Path) -> list[str]:
    return [sys.executable, "-m", "controlplane", "serve", "--config", str(fleet), "--port", "0"]


def heard(listener: socket.socket, word: str) -> list[str]:
    """Give what systemd was told up to this word."""
    said: list[str] = []
    while word not in said:
        said += listener.recv(4096).decode().splitlines()
    return said


def test_systemd_hears_that_it_is_up_that_it_lives_and_that_it_stops(
    fleet: Path, tmp_path: Path
) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address)
        listener.settimeout(50.0)
        with running(
            serve(fleet),
            CONTROLPLANE_DATA=str(tmp_path / "data"),
            NOTIFY_SOCKET=address,
            WATCHDOG_USEC=str(int(WATCHDOG_S * 1e6)),
        ) as (process, url):
            assert f"STATUS=up at {url}" in heard(listener, "READY=1")
            heard(listener, "WATCHDOG=1")
            process.send_signal(signal.SIGTERM)
            heard(listener, "STOPPING=1")
            assert process.wait(30) == 0


def test_it_needs_no_memory_that_is_both_written_and_run(fleet: Path, tmp_path: Path) -> None:
    """MemoryDenyWriteExecute=yes of the unit, in the kernel's own words (Linux 6.3)."""
    program = (
        "import ctypes, os, sys\n"
        f"if ctypes.CDLL(None).prctl({PR_SET_MDWE}, {REFUSE_EXEC_GAIN}, 0, 0, 0):\n"
        "    raise SystemExit('not supported')\n"
        "os.execv(sys.argv[1], sys.argv[1:])\n"
    )
    command = [sys.executable, "-c", program, *serve(fleet)]
    try:
        with running(command, CONTROLPLANE_DATA=str(tmp_path / "data")) as (_, url):
            until_ready(url)
    except AssertionError as error:
        if "not supported" in str(error):
            pytest.skip("the kernel is older than 6.3")
        raise


@pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("unshare") is None or shutil.which("setpriv") is None,
    reason="only root may confine: run as root, with util-linux",
)
def test_it_runs_as_nobody_on_a_root_that_cannot_be_written() -> None:
    script = CONFINE.format(nobody=NOBODY, command=" ".join(serve(FLEET)))
    with running(
        ["unshare", "--mount", "sh", "-c", script],
        CONTROLPLANE_DATA="/mnt/store",
        TMPDIR="/mnt",
        HOME="/nonexistent",
        PYTHONDONTWRITEBYTECODE="1",
    ) as (process, url):
        status = Path(f"/proc/{process.pid}/status").read_text()

        assert f"Uid:\t{NOBODY}\t{NOBODY}\t{NOBODY}\t{NOBODY}" in status
        assert "CapEff:\t0000000000000000" in status
        assert "NoNewPrivs:\t1" in status
        until_ready(url)


def until_ready(url: str) -> None:
    began = stopwatch()
    while stopwatch() - began < 40.0:
        try:
            with urlopen(f"{url}/readyz", timeout=10):
                return
        except HTTPError:  # the cluster was not seen yet
            continue
    raise AssertionError("it did not become ready")
