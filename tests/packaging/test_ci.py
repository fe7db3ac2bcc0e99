"""Where CI is set, a test that is skipped for want of a program fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPPED = "import pytest\n\n\ndef test_drives_a_program():\n    pytest.skip('no program')\n"


@pytest.mark.parametrize(("ci", "exit_code"), [("", 0), ("true", 1)])
def test_a_skip_is_a_failure_only_in_ci(ci: str, exit_code: int, tmp_path: Path) -> None:
    (tmp_path / "test_program.py").write_text(SKIPPED)
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text("utf-8"))

    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", tmp_path, tmp_path],
        env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ended.returncode == exit_code
    assert "no program" in ended.stdout or not ci
