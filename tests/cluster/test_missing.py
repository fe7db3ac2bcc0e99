"""Where no cluster can be had, its tests say what is missing; with CI set, that is a failure."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTEST = [
    sys.executable,
    "-m",
    "pytest",
    "-q",
    "-p",
    "no:cacheprovider",
    "tests/cluster/test_plane.py",
]
CLUSTER = ("CONTROLPLANE_TEST_CLUSTER", "CONTROLPLANE_TEST_CLUSTER_MISSING", "KUBEBUILDER_ASSETS")


@pytest.fixture
def laptop(tmp_path: Path) -> dict[str, str]:
    """Give the environment of a machine with nothing built and no Go."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("unshare", "nsenter", "ip", "openssl", "true", "sh"):
        (tools / tool).symlink_to(shutil.which(tool) or "/missing")
    kept = {key: value for key, value in os.environ.items() if key not in {*CLUSTER, "CI"}}
    return {**kept, "PATH": str(tools), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def run(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.cluster", "run", "--", *command],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_without_go_the_tests_are_skipped_and_say_so(laptop: dict[str, str]) -> None:
    ended = run(laptop, *PYTEST)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "go: not installed; Go 1.26 or newer builds the control plane" in ended.stderr
    assert "no test cluster: go: not installed" in ended.stdout
    assert "skipped" in ended.stdout.splitlines()[-1]


def test_with_ci_set_it_is_a_failure_before_any_test(laptop: dict[str, str]) -> None:
    ended = run({**laptop, "CI": "true"}, "true")

    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (
        1,
        "Error: no test cluster: go: not installed; Go 1.26 or newer builds the control plane",
    )


def test_a_go_that_is_too_old_is_named(laptop: dict[str, str], tmp_path: Path) -> None:
    old = tmp_path / "bin" / "go"
    old.write_text("#!/bin/sh\necho go1.19.8\n")
    old.chmod(0o755)

    ended = run(laptop, "true")

    assert f"go: {old} is 1.19.8, Kubernetes v1.36.3 needs 1.26" in ended.stderr


def test_outside_of_a_cluster_a_plain_run_says_how_to_get_one(laptop: dict[str, str]) -> None:
    ended = subprocess.run(
        PYTEST, cwd=ROOT, env=laptop, capture_output=True, text=True, check=False
    )

    assert "no test cluster: run `make test`, or python -m tests.cluster run" in ended.stdout
