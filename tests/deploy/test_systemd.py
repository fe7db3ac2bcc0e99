"""The unit: systemd takes it, rates it as well confined, and knows how to watch it."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[2] / "deploy" / "systemd" / "controlplane.service"
ANALYZE = shutil.which("systemd-analyze")
EXPOSURE = 2.0  # 10 is a service that nothing confines
needs_systemd = pytest.mark.skipif(
    ANALYZE is None, reason="systemd-analyze is missing: apt-get install systemd"
)


def analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    assert ANALYZE is not None
    return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, check=False)


def service() -> configparser.SectionProxy:
    unit = configparser.RawConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]  # names keep their capitals
    unit.read(UNIT)
    return unit["Service"]


@needs_systemd
def test_systemd_finds_no_fault(tmp_path: Path) -> None:
    program = tmp_path / "controlplane"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/controlplane/bin/controlplane", str(program)))

    said = analyze("verify", "--man=no", unit)

    assert (said.returncode, said.stderr) == (0, "")


@needs_systemd
def test_systemd_rates_it_as_well_confined() -> None:
    said = analyze("security", "--offline=true", "--no-pager", UNIT)
    found = re.search(r"exposure level for controlplane.service: ([\d.]+)", said.stdout)

    assert found is not None, said.stderr
    assert float(found[1]) <= EXPOSURE


def test_it_is_watched_and_its_end_is_waited_for() -> None:
    unit = service()

    assert unit["Type"] == "notify"
    assert int(unit["WatchdogSec"]) >= 10
    assert unit["Restart"] == "on-failure"
    assert unit["StateDirectory"] == "controlplane"
