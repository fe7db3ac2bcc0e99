"""Several models in one scenario: each with its own class of cards, load, limits and report."""

from pathlib import Path
from typing import Any

import pytest

from controlplane.simulation.execution import run_scenario

TWO = """
about: A chat model and a small one
duration_s: 300
node_classes:
  big: {vendor: nvidia, resource: nvidia.com/gpu, vram_gib: 80, price_per_hour: 3,
        runtime: {kind: cuda, version: "12.8"}}
  small: {vendor: nvidia, resource: nvidia.com/gpu, vram_gib: 16, price_per_hour: 0.5,
          runtime: {kind: cuda, version: "12.8"}}
pools:
  - {node_class: big, zone: a, nodes: 2, devices_per_node: 8}
  - {node_class: small, zone: a, nodes: 4, devices_per_node: 4}
models:
  chat:
    node_class: big
    devices: 4
    slots: 8
    service_s: 0.5
    load_s: 50
    promote_s: 10
    min: 1
    max: 3
    initial: 2
    in_time_s: {high: 1}
    streams:
      people:
        priority: high
        arrivals: {poisson: {rate: 20}}
        service: {lognormal: {mean_s: 0.5, cv: 0.5}}
  tags:
    node_class: small
    slots: 4
    service_s: 0.05
    load_s: 15
    promote_s: 1
    min: 1
    max: 6
    initial: 2
    in_time_s: {medium: 0.5, low: 5}
    streams:
      live:
        priority: medium
        arrivals: {poisson: {rate: 60}}
        service: {exponential: {mean_s: 0.05}}
      nightly:
        priority: low
        arrivals: {bursts: {rate: 200, length_s: 60, starts_s: [100]}}
        service: {fixed: {mean_s: 0.05}}
"""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("scenario") / "two.yaml"
    path.write_text(TWO)
    return str(path)


@pytest.fixture(scope="module", params=["controlplane", "static:2", "hpa:0.7", "kpa"])
def report(scenario: str, request: pytest.FixtureRequest) -> dict[str, Any]:
    return run_scenario(scenario, request.param, 3)


def test_each_model_is_told_and_the_total_is_their_sum(report: dict[str, Any]) -> None:
    models = report["models"]

    assert set(models) == {"chat", "tags"}
    for field in ("gpu_hours", "bound_gpu_hours"):
        total = sum(of_model[field] for of_model in models.values())
        assert report[field] == pytest.approx(total, abs=1e-5)
    for name, of_class in report["classes"].items():
        arrived = [of_model["classes"][name]["arrived"] for of_model in models.values()]
        assert of_class["arrived"] == sum(arrived)
    assert report["direction_changes"] == sum(m["direction_changes"] for m in models.values())


def test_a_replica_of_four_devices_is_billed_for_four(report: dict[str, Any]) -> None:
    chat = report["models"]["chat"]

    assert chat["gpu_hours"] >= 4 * 300 / 3600  # at least one replica all the time
    assert report["max_replicas"] <= sum(m["max_replicas"] for m in report["models"].values())


def test_the_load_is_what_the_file_says(report: dict[str, Any]) -> None:
    classes = report["classes"]

    assert classes["high"]["arrived"] == pytest.approx(20 * 300, rel=0.05)
    assert classes["medium"]["arrived"] == pytest.approx(60 * 300, rel=0.05)
    assert classes["low"]["arrived"] == pytest.approx(200 * 60, rel=0.05)


def test_a_static_fleet_of_both_costs_what_it_holds(scenario: str) -> None:
    report = run_scenario(scenario, "static:3", 3)

    assert report["gpu_hours"] == pytest.approx((3 * 4 + 3) * 300 / 3600, abs=1e-6)
    assert report["max_replicas"] == 6
