"""Whole runs: what the scenario of the report shows, cut to one burst."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from controlplane.simulation.execution import run_scenario
from controlplane.simulation.library import SCENARIOS
from controlplane.simulation.sweep import frontier, sweep


@pytest.fixture(scope="module")
def burst(tmp_path_factory: pytest.TempPathFactory) -> str:
    """seed-000 for 420 s, its burst of 120 s at 150 s."""
    text = (SCENARIOS / "seed-000.yaml").read_text()
    for old, new in [
        ("duration_s: 7200", "duration_s: 420"),
        ("starts_s: [1800], every_s: 3600", "starts_s: [150]"),
    ]:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path_factory.mktemp("scenario") / "burst.yaml"
    path.write_text(text)
    return str(path)


@pytest.fixture(scope="module")
def queued(burst: str) -> dict[str, Any]:
    return run_scenario(burst, "static:4", 1)


@pytest.fixture(scope="module")
def fifo(burst: str) -> dict[str, Any]:
    return run_scenario(burst, "static:4", 1, fifo=True)


def test_priorities_keep_high_within_20_ms_where_one_queue_lets_it_wait_for_seconds(
    queued: dict[str, Any], fifo: dict[str, Any]
) -> None:
    assert queued["classes"]["high"]["wait_p99_s"] <= 0.02
    assert fifo["classes"]["high"]["wait_p99_s"] > 1


def test_no_high_or_medium_request_is_turned_away_while_low_is(queued: dict[str, Any]) -> None:
    rejected = {name: of_class["rejected"] for name, of_class in queued["classes"].items()}

    assert (rejected["high"], rejected["medium"]) == (0, 0)
    assert rejected["low"] > 50_000


def test_one_unbounded_queue_turns_nobody_away(fifo: dict[str, Any]) -> None:
    assert [of_class["rejected"] for of_class in fifo["classes"].values()] == [0, 0, 0]


def test_a_static_fleet_is_billed_for_every_second_and_never_reacts(queued: dict[str, Any]) -> None:
    assert queued["gpu_hours"] == pytest.approx(4 * 420 / 3600, abs=1e-6)
    assert (queued["direction_changes"], queued["max_replicas"]) == (0, 4)
    assert queued["reaction_s"] is None
    assert queued["bound_gpu_hours"] > queued["gpu_hours"]  # it lets low fail


def test_the_same_seed_gives_the_same_report_and_another_one_another(
    burst: str, queued: dict[str, Any]
) -> None:
    def figures(report: dict[str, Any]) -> dict[str, Any]:
        return {
            key: value for key, value in report.items() if key not in ("requests_per_s", "seed")
        }

    assert figures(run_scenario(burst, "static:4", 1)) == figures(queued)
    assert figures(run_scenario(burst, "static:4", 2)) != figures(queued)


@pytest.mark.parametrize(
    ("policy", "least_s", "most_s"),
    [
        # A cold replica serves 100 s after its creation. The HPA decides on a sync of 15 s over
        # readings of 15 s, the KPA within its 6 s, ours when the first request is turned away.
        pytest.param("hpa:0.85", 100, 135, id="hpa"),
        pytest.param("keda-queue:5", 100, 116, id="keda"),
        pytest.param("kpa", 100, 110, id="kpa"),
        pytest.param("controlplane", 100, 105, id="ours"),
    ],
)
def test_help_comes_a_cold_start_after_whoever_decides_has_noticed(
    burst: str, policy: str, least_s: float, most_s: float
) -> None:
    report = run_scenario(burst, policy, 1)

    assert least_s <= report["reaction_s"] <= most_s
    assert report["max_replicas"] > 4


def test_a_run_is_stopped_by_its_progress(burst: str) -> None:
    shares = []

    def progress(share: float) -> None:
        shares.append(share)
        if share > 0.1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_scenario(burst, "hpa:0.6", 1, progress=progress)

    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(0.1, abs=0.03)


def test_a_timeline_follows_the_run_for_charts(burst: str) -> None:
    report = run_scenario(burst, "kpa", 1, points=40)
    (course,) = report["courses"].values()

    assert len(course.at) == pytest.approx(40, abs=1)
    assert list(course.at) == sorted(course.at)
    assert (course.at[0], course.target[0], course.lanes["serving"][0]) == (0.0, 4, 4)
    assert max(course.target) > 4
    assert max(x or 0 for x in course.arrivals["low"]) == pytest.approx(800, rel=0.2)
    assert course.wait_limits == {"high": 0.1, "medium": 0.8, "low": 10.0}
    # What waits in each row drains through the slots that served then, 14 a replica.
    for n, drain_s in enumerate(course.drain_s):
        queue = sum(line[n] or 0 for line in course.queue.values())
        slots = 14 * course.lanes["serving"][n]
        assert drain_s == pytest.approx(queue * 0.125 / slots, rel=0.35, abs=1e-3)


@pytest.mark.slow
def test_a_sweep_runs_every_policy_and_tells_the_frontier(burst: str) -> None:
    told: list[str] = []
    reports = sweep(burst, ["static:5", "static:4"], 1, finished=told.append)
    table = frontier(reports).splitlines()

    assert [report["policy"] for report in reports] == ["static:5", "static:4"]
    assert sorted(told) == ["static:4", "static:5"]
    assert table[0].startswith("| policy | GPU-hours | x bound |")
    assert [row.split(" | ")[0] for row in table[2:]] == ["| static:4", "| static:5"]


SWEEPS = """
import signal
from controlplane.simulation.sweep import sweep
if __name__ == "__main__":
    # Whoever runs these tests in the background of a shell has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sweep("seed-000-day", ["static:4", "static:5", "static:6", "static:7"], 1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_run_of_a_sweep_outlives_the_process_that_started_it(
    tmp_path: Path, how: signal.Signals
) -> None:
    script = tmp_path / "sweeps.py"
    script.write_text(SWEEPS)
    with subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE) as sweeping:
        while len(busy_children(sweeping.pid)) < 2:
            assert sweeping.poll() is None
            time.sleep(0.1)
        sweeping.send_signal(how)
        # Whoever still runs holds the pipe, so it ends with the last of them; a day takes a minute.
        sweeping.communicate(timeout=20)

        assert sweeping.returncode != 0


def busy_children(pid: int) -> set[int]:
    """Give the children that have computed for a second: in the middle of a run."""
    told = subprocess.check_output(["ps", "-A", "-o", "pid=,ppid=,cputimes="], text=True)
    rows = [[int(cell) for cell in line.split()] for line in told.splitlines()]
    return {child for child, parent, seconds in rows if parent == pid and seconds > 0}
