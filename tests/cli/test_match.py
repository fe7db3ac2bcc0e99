"""`controlplane match`: every class, every reason, cheapest first."""

import json
from pathlib import Path
from typing import Any

import pytest

from controlplane import cli

FLEET = """
node_classes:
  A100-80G: &card
    vendor: nvidia
    resource: nvidia.com/gpu
    vram_gib: 80
    price_per_hour: 2.00
    runtime: {kind: cuda, version: "12.8"}
  T4:
    <<: *card
    vram_gib: 16
    price_per_hour: 0.35
  910B3:
    vendor: ascend
    resource: huawei.com/Ascend910
    vram_gib: 64
    price_per_hour: 1.50
    runtime: {kind: cann, version: "8.3.RC2"}
models:
  image:
    team: a
    need: {vram_gib: 40}
    variants:
      A100-80G: &cuda
        image: registry/image:1
        runtime: {kind: cuda, version: "12.4"}
        slots: 2
        service_s: 3.0
      T4: *cuda
      910B3:
        <<: *cuda
        runtime: {kind: cann, version: "8.5.0"}
  classifier:
    team: a
    need: {vram_gib: 8}
    variants:
      A100-80G: *cuda
      T4: *cuda
"""
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    path = tmp_path / "fleet.yaml"
    path.write_text(FLEET)
    return str(path)


def test_json_gives_every_model_a_verdict_on_every_class(fleet: str, capsys: Captured) -> None:
    assert cli.run(["match", fleet, "--json"]) == 0
    verdicts: dict[str, list[dict[str, Any]]] = json.loads(capsys.readouterr().out)
    assert list(verdicts) == ["image", "classifier"]
    fits, newer, small = verdicts["image"]
    assert list(fits) == ["node_class", "fits", "devices", "hourly_cost", "reasons"]
    assert (fits["node_class"], fits["fits"], fits["devices"]) == ("A100-80G", True, 1)
    assert fits["hourly_cost"] == 2.0
    assert (newer["node_class"], newer["devices"], newer["hourly_cost"]) == ("910B3", None, None)
    assert newer["reasons"] == [
        {"code": "RuntimeTooNew", "evidence": {"built": "CANN 8.5.0", "supported": "CANN 8.3.RC2"}}
    ]
    assert small["reasons"][0]["code"] == "TooSmall"
    assert small["reasons"][0]["evidence"]["need"] == 40
    assert [v["node_class"] for v in verdicts["classifier"]] == ["T4", "A100-80G", "910B3"]


def test_people_read_prices_and_sentences(fleet: str, capsys: Captured) -> None:
    assert cli.run(["match", fleet, "--model", "classifier"]) == 0
    said = capsys.readouterr().out
    assert "image" not in said
    assert "1 x T4" in said
    assert "0.35 USD/h" in said
    assert "bigger than needed" in said


def test_a_model_that_is_not_there_is_refused(fleet: str, capsys: Captured) -> None:
    assert cli.run(["match", fleet, "--model", "nobody"]) == 2
    assert "nobody is no model of" in capsys.readouterr().err


def test_a_wrong_fleet_file_is_refused_with_its_line(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(FLEET.replace("vram_gib: 40", "vram_gib: -40"))
    assert cli.run(["match", str(path), "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"{path}:22: models.image.need.vram_gib: -40: ")


def test_help_shows_an_example(capsys: Captured) -> None:
    assert cli.run(["match", "--help"]) == 0
    assert "Example: controlplane match fleet.yaml" in capsys.readouterr().out
