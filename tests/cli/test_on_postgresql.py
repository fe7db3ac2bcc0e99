"""`serve` on a real PostgreSQL: two daemons share it, and its password is said nowhere."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.postgresql import postgresql, programs
from tests.settings.fleet_text import SMALL

PASSWORD = "s3cret-of-the-database"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with postgresql() as url:
        yield url.replace("fleet@", f"fleet:{PASSWORD}@")


@contextmanager
def serving(fleet: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    fleet.write_text(SMALL)
    options = ["--config", str(fleet), "--port", "0", "--log", "debug"]
    with subprocess.Popen(
        [sys.executable, "-m", "controlplane", "serve", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def up(process: subprocess.Popen[str]) -> list[str]:
    """Give what it said until it was up."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if "controlplane is up at" in line:
            return said
    raise AssertionError("".join(said))


def stopped(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 0, said
    return said


def test_two_daemons_share_one_database_and_its_password_is_said_nowhere(
    address: str, tmp_path: Path
) -> None:
    file = tmp_path / "url"
    file.write_text(address)
    with ExitStack() as both:
        first = both.enter_context(serving(tmp_path / "a.yaml", CONTROLPLANE_DATA=address))
        second = both.enter_context(serving(tmp_path / "b.yaml", CONTROLPLANE_DATA_FILE=str(file)))
        said = [*up(first), *up(second), stopped(first), stopped(second)]

    assert PASSWORD not in "".join(said)


def test_a_server_that_is_gone_is_one_line_without_the_password(tmp_path: Path) -> None:
    where = f"postgresql://fleet:{PASSWORD}@127.0.0.1:1/fleet"
    with serving(tmp_path / "a.yaml", CONTROLPLANE_DATA=where) as process:
        said, _ = process.communicate(timeout=60)

    assert process.returncode == 1
    sentence = (
        "Error: the store postgresql://fleet:***@127.0.0.1:1/fleet cannot be reached: "
        "Connection refused; is the address right, and the server up?"
    )
    assert said.splitlines() == [sentence]


def test_a_password_on_the_command_line_is_refused(tmp_path: Path) -> None:
    where = f"postgresql://fleet:{PASSWORD}@db/fleet"
    ended = subprocess.run(
        [sys.executable, "-m", "controlplane", "token", "list", "--data", where],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip

    assert ended.returncode == 2
    assert ended.stderr.startswith("--data: postgresql://fleet:***@db/fleet: must hold no password")
