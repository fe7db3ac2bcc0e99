"""`controlplane simulate`: the report as JSON and in words, and what is refused."""

import json
from pathlib import Path

import pytest

from controlplane.cli import run
from controlplane.simulation.library import SCENARIOS


@pytest.fixture
def short(tmp_path: Path) -> str:
    """The load test of seed-000, cut to 60 s."""
    text = (SCENARIOS / "seed-000.yaml").read_text().replace("duration_s: 7200", "duration_s: 60")
    path = tmp_path / "short.yaml"
    path.write_text(text)
    return str(path)


def test_the_report_is_json_with_every_field_of_the_contract(
    short: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["simulate", short, "--policy", "static:4", "--seed", "7", "--json"])
    report = json.loads(capsys.readouterr().out)

    assert code == 0
    assert set(report) == {
        "scenario", "policy", "seed", "gpu_hours", "bound_gpu_hours", "idle_ratio", "classes",
        "direction_changes", "max_replicas", "reaction_s", "requests_per_s",
    }  # fmt: skip
    assert set(report["classes"]["high"]) == {
        "arrived", "served", "rejected", "wait_p50_s", "wait_p99_s", "wait_max_s",
        "latency_p50_s", "latency_p99_s", "in_time_ratio",
    }  # fmt: skip
    assert (report["policy"], report["seed"]) == ("static:4", 7)
    assert report["gpu_hours"] == pytest.approx(4 * 60 / 3600, abs=1e-6)
    assert report["max_replicas"] == 4


@pytest.mark.parametrize("policy", ["controlplane", "hpa:0.7", "kpa", "seed-000"])
def test_the_same_seed_gives_the_same_report(
    short: str, policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = []
    for _ in range(2):
        run(["simulate", short, "--policy", policy, "--json"])
        reports.append(json.loads(capsys.readouterr().out) | {"requests_per_s": None})

    assert reports[0] == reports[1]


def test_without_json_it_is_told_in_words(short: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", short, "--policy", "static:5"]) == 0
    told = capsys.readouterr().out

    assert "GPU-hours 0.08" in told
    assert "high" in told
    assert "low" not in told  # nobody of that class came within 60 s


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["seed-000", "--policy", "hpa:9"], "policy: hpa:9: the figure must be above 0"),
        (["seed-000", "--policy", "lstm"], "policy: lstm: must be one of"),
        (["nowhere.yaml"], "scenario: nowhere.yaml: must be a file, or one of"),
    ],
)
def test_a_wrong_request_is_told_in_one_line_with_exit_code_2(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", *arguments]) == 2
    told = capsys.readouterr()

    assert told.out == ""
    assert told.err.startswith(line)
    assert told.err.count("\n") == 1


def test_a_wrong_scenario_file_is_told_line_by_line_with_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.yaml"
    text = (SCENARIOS / "seed-000.yaml").read_text()
    path.write_text(text.replace("rate: 200", "rate: -3").replace("shape: 2.2", "shape: 1", 1))

    assert run(["simulate", str(path)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "own.yaml:30: models.chat-70b.streams.chat.arrivals.poisson.rate: -3: must be above 0",
        "own.yaml:31: models.chat-70b.streams.chat.service.pareto.shape: 1: must be above 1",
    ]


def test_help_names_the_policies_the_scenarios_and_an_example(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["simulate", "--help"]) == 0
    told = capsys.readouterr().out

    for word in ("keda-queue:DEPTH", "azure-mixed", "controlplane simulate seed-000"):
        assert word in told
