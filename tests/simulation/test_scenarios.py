"""Scenario files: the shipped ones are what they say, and a wrong one is refused line by line."""

from pathlib import Path

import numpy as np
import pytest

from controlplane.domain.faults import FaultsError
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ModelName
from controlplane.simulation.execution import run_scenario
from controlplane.simulation.library import SCENARIOS, load_scenario, scenario_names
from controlplane.simulation.streams import StreamTraffic

SHIPPED = {"seed-000", "seed-000-day", "azure-conv", "azure-code", "deepseek-day", "azure-mixed"}


def test_every_scenario_is_listed_with_one_line_about_it() -> None:
    names = scenario_names()

    assert set(names) == SHIPPED
    assert all(names.values())


def test_seed_000_is_the_load_test_of_the_report() -> None:
    scenario = load_scenario("seed-000").scenario
    model = scenario.models[next(iter(scenario.models))]
    rates = {
        stream.priority: stream.arrivals.poisson or stream.arrivals.bursts
        for stream in model.streams.values()
    }
    pareto = model.streams["batch"].service.pareto

    assert scenario.duration_s == 7200
    assert (model.slots, model.devices, model.min, model.max, model.initial) == (14, 1, 4, 12, 4)
    assert model.load_s + model.promote_s == 100
    assert model.in_time_s == {Priority.HIGH: 0.1, Priority.MEDIUM: 0.8, Priority.LOW: 10}
    assert model.queue_bounds == {Priority.HIGH: 50, Priority.MEDIUM: 100, Priority.LOW: 200}
    assert [rate.rate for rate in rates.values() if rate] == [200, 150, 800]
    assert pareto is not None
    assert (pareto.shape, pareto.mean_s, pareto.clip_s) == (2.2, 0.125, 15)


@pytest.mark.parametrize(
    ("name", "arrived"),
    [
        ("azure-conv", [19_366, 0, 0]),
        ("azure-code", [0, 8_819, 0]),
        ("deepseek-day", [0, 0, 136_959]),
        ("azure-mixed", [19_366, 8_819, 6_842]),  # of the day its first hour
    ],
)
def test_a_trace_scenario_replays_its_trace_whole(name: str, arrived: list[int]) -> None:
    chunks = load_scenario(name).traffic(seed=1)[ModelName("llm")].chunks()
    counted = sum(np.bincount(chunk.rank, minlength=3) for chunk in chunks)

    assert np.asarray(counted).tolist() == arrived


def test_the_day_has_the_burst_at_every_half_hour_past_the_hour() -> None:
    streams = load_scenario("seed-000-day").scenario.models[ModelName("chat-70b")].streams
    batch = StreamTraffic("chat-70b", {"batch": streams["batch"]}, {}, 1, until=86_400)
    low = np.concatenate([chunk.at for chunk in batch.chunks()])

    assert np.unique(low // 3600).tolist() == list(range(24))
    assert (low % 3600).min() >= 1800
    assert (low % 3600).max() < 1920


def changed(folder: Path, *pairs: tuple[str, str]) -> Path:
    text = (SCENARIOS / "seed-000.yaml").read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "own.yaml"
    path.write_text(text)
    return path


def refused(name: str | Path) -> list[str]:
    with pytest.raises(FaultsError) as error:
        load_scenario(str(name))
    return list(error.value.lines)


def test_an_own_file_works_like_a_shipped_one(tmp_path: Path) -> None:
    own = load_scenario(str(changed(tmp_path, ("duration_s: 7200", "duration_s: 60"))))

    assert own.scenario.duration_s == 60


def test_every_fault_of_a_file_is_one_line_with_line_field_value_and_rule(tmp_path: Path) -> None:
    lines = refused(
        changed(
            tmp_path,
            ("duration_s: 7200", "duration_s: -1"),
            ("rate: 150", "rate: plenty"),
            ("slots: 14", "slotts: 14"),
        )
    )

    assert len(lines) == 4  # slots is missing as well
    assert "own.yaml:3: duration_s: -1: must be above 0" in lines
    assert any("analysis.arrivals.poisson.rate: plenty: must be a number" in line for line in lines)
    assert any("slotts" in line and "did you mean slots?" in line for line in lines)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("initial: 4", "initial: 3", "initial 3 is not within 4..12"),
        ("min: 4", "min: 14", "min 14 is above max 12"),
        ("priority: high", "priority: low", None),
        (
            "in_time_s: {high: 0.1, medium: 0.8, low: 10}",
            "in_time_s: {high: 0.1}",
            "in_time_s lacks",
        ),
        ("    node_class: A100-80G\n    devices", "    node_class: H100\n    devices", "H100"),
        ("{poisson: {rate: 200}}", "{poisson: {rate: 200}, trace: {file: x}}", "exactly one"),
        ("clip_s: 15", "clip_s: 0.01", "is not above the shortest time"),
        ("{poisson: {rate: 200}}", "{poisson: {rate: 1.0e+12}}", "must be at most 1000000"),
    ],
)
def test_what_does_not_hold_together_is_refused(
    tmp_path: Path, old: str, new: str, rule: str | None
) -> None:
    path = changed(tmp_path, (old, new))

    if rule is None:
        load_scenario(str(path))
    else:
        assert any(rule in line for line in refused(path))


def test_an_unknown_name_is_told_what_there_is() -> None:
    (line,) = refused("seed-002")

    assert "seed-002" in line
    assert all(name in line for name in SHIPPED)


def test_a_wrong_trace_is_told_with_its_own_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "load.csv").write_text("t_s,prompt_tokens,output_tokens\n0,1,1\nx,1,1\n")
    path = changed(
        tmp_path,
        ("{poisson: {rate: 200}}", "{trace: {file: load.csv}}"),
    )

    assert refused(path) == ["load.csv:3: t_s: x: must be a number, 0 or more"]


def test_a_trace_that_is_nowhere_is_told_with_its_field_and_what_ships(tmp_path: Path) -> None:
    (line,) = refused(changed(tmp_path, ("{poisson: {rate: 200}}", "{trace: {file: gone.csv}}")))

    assert line.startswith(
        "own.yaml: models.chat-70b.streams.chat.arrivals.trace.file: gone.csv: must be a file"
    )
    assert "azure-2023-conv.csv.gz" in line


def test_a_file_written_on_windows_is_read_and_one_that_is_no_text_refused(tmp_path: Path) -> None:
    path = changed(tmp_path)
    text = path.read_text()
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert load_scenario(str(path)).scenario.duration_s == 7200

    path.write_bytes(text.encode("utf-16"))
    assert refused(path) == [f"{path}: is not UTF-8 text: byte 0 is 0xff"]


def test_a_trace_without_the_columns_its_law_needs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "load.csv").write_text("t_s\n0\n")
    path = changed(
        tmp_path,
        ("{poisson: {rate: 200}}", "{trace: {file: load.csv}}"),
        ("{pareto: {shape: 2.2, mean_s: 0.125, clip_s: 15}}", "{tokens: {}}"),
    )

    (line,) = refused(path)
    assert "load.csv: the trace must have a column prompt_tokens" in line


def test_a_scenario_lasts_a_month_at_most(tmp_path: Path) -> None:
    (line,) = refused(changed(tmp_path, ("duration_s: 7200", "duration_s: 1.0e12")))

    assert line.endswith("duration_s: 1.0e12: must be at most 2678400")


def test_what_does_not_fit_at_the_start_is_wrong_input(tmp_path: Path) -> None:
    path = changed(tmp_path, ("nodes: 3", "nodes: 0"), ("nodes: 2", "nodes: 0"))

    with pytest.raises(FaultsError, match=r"models\.chat-70b\.initial: 4: do not fit on A100-80G"):
        run_scenario(str(path), "static:4", 1)
