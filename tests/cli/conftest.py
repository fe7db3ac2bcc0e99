"""Commands run as people run them, on a store in a folder of their own."""

from pathlib import Path

import pytest

from controlplane.cli import run
from tests.cli.filled import Said


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONTROLPLANE_DATA", str(tmp_path))
    monkeypatch.setenv("CONTROLPLANE_URL", "http://127.0.0.1:1")  # nobody listens there
    return tmp_path


@pytest.fixture
def say(folder: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    del folder  # which tells commands where the store is

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call
