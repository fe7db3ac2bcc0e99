"""One daemon a folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from controlplane.adapters.sql.faults import StoreError
from controlplane.adapters.sql.ownership import LOCK_NAME, sole_daemon

HOLDS = """
import sys
from controlplane.adapters.sql.ownership import sole_daemon
with sole_daemon(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_daemon_is_refused_and_told_which_one_is_there(tmp_path: Path) -> None:
    with sole_daemon(tmp_path), pytest.raises(StoreError) as refused, sole_daemon(tmp_path):
        pass

    said = str(refused.value)
    assert f"is in use by another daemon (process {os.getpid()})" in said
    assert str(tmp_path) in said


def test_the_folder_is_free_again_when_the_daemon_is_gone(tmp_path: Path) -> None:
    for _ in range(2):
        with sole_daemon(tmp_path / "new" / "folder"):
            pass


def test_a_daemon_that_was_killed_leaves_nothing_locked(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match=f"process {other.pid}"), sole_daemon(tmp_path):
            pass
        other.kill()
        other.wait()
        with sole_daemon(tmp_path):
            assert (tmp_path / LOCK_NAME).read_text() == f"{os.getpid()}\n"


def test_a_folder_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreError, match="cannot be made: "), sole_daemon(tmp_path / "file"):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).symlink_to("/dev/full")

    with pytest.raises(StoreError, match="cannot be written: "), sole_daemon(tmp_path):
        pass


def test_a_database_made_for_several_is_not_locked() -> None:
    address = "postgresql://nobody@nowhere/none"
    with sole_daemon(address), sole_daemon(address):
        pass
