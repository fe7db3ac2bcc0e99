"""A daemon tells beside its store where it answers; who is gone answers nowhere."""

import subprocess
import sys
from pathlib import Path

import pytest

from controlplane.cli.asking import daemon_url
from controlplane.settings import announced, whereabouts
from controlplane.settings.whereabouts import FILE


@pytest.fixture(autouse=True)
def _nothing_else_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URL", "HOST", "PORT", "DATA"):
        monkeypatch.delenv(f"CONTROLPLANE_{name}", raising=False)


def test_a_daemon_is_found_by_its_store_for_as_long_as_it_answers(tmp_path: Path) -> None:
    folder = tmp_path / "made when it is needed"

    with announced(folder, "http://127.0.0.1:9000"):
        assert whereabouts(folder) == "http://127.0.0.1:9000"
        assert daemon_url(None, str(folder)) == "http://127.0.0.1:9000"
        assert daemon_url("http://elsewhere/", str(folder)) == "http://elsewhere"
    assert whereabouts(folder) is None
    assert daemon_url(None, str(folder)) == "http://127.0.0.1:8080"


def test_one_that_listens_everywhere_is_asked_here(tmp_path: Path) -> None:
    for told, asked in (("0.0.0.0", "127.0.0.1"), ("[::]", "[::1]"), ("[fd00::7]", "[fd00::7]")):
        with announced(tmp_path, f"http://{told}:81"):
            assert daemon_url(None, str(tmp_path)) == f"http://{asked}:81"


def test_what_a_killed_daemon_left_behind_tells_nothing(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    (tmp_path / FILE).write_text(f'{{"address": "http://127.0.0.1:9000", "pid": {gone.pid}}}')

    assert whereabouts(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"address": 3, "pid": 1}', '{"pid": 1e30}'])
def test_a_file_that_is_none_of_ours_tells_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)

    assert whereabouts(tmp_path) is None


def test_the_next_daemon_of_a_store_is_not_forgotten_by_the_last(tmp_path: Path) -> None:
    with announced(tmp_path, "http://127.0.0.1:1"):
        (tmp_path / FILE).write_text('{"address": "http://127.0.0.1:2", "pid": 1}')

    assert whereabouts(tmp_path) == "http://127.0.0.1:2"
