"""An existing ScaledObject or HPA, read as a policy that behaves the same."""

from typing import Any

import pytest

from controlplane.cli import run
from controlplane.domain.policies import ModelPolicy
from controlplane.render.imported import Imported, imported
from controlplane.settings import merge, profile
from controlplane.settings.manifests import read_manifests
from tests.render.handover.seeds import HPA, SEED_001, SEED_004


def read(text: str) -> Imported:
    return imported(read_manifests(text, "x.yaml")[0])


def policy(found: Imported) -> ModelPolicy:
    """What is printed is a policy that the fleet file takes."""
    return merge(profile("controlplane").policy, found.policy)


def test_seed_004_becomes_the_triggers_it_had() -> None:
    scaling = policy(read(SEED_004)).scaling

    assert (scaling.min, scaling.max, scaling.stabilisation_s) == (2, 10, 300)
    assert (scaling.utilisation_ceiling, scaling.utilisation_alone) == (0.75, True)
    assert (scaling.depth_target, scaling.p99) == (10, True)
    assert (scaling.drain_limit_s, scaling.offered_ceiling) == (None, None)
    assert not scaling.turned_away


def test_seed_004_hears_what_is_wrong_with_it() -> None:
    faults = " ".join(read(SEED_004).faults)

    assert "AverageValue divides by the replicas" in faults
    assert "cooldownPeriod governs the way to 0 alone" in faults


def test_seed_001_becomes_a_queue_depth_per_replica() -> None:
    scaling = policy(read(SEED_001)).scaling

    assert (scaling.depth_target, scaling.depth_alone_falls) == (5, True)
    assert scaling.stabilisation_s == 120
    assert (scaling.cold_step_share, scaling.cold_step_min) == (1.0, 4)  # KEDA's default: it jumps


def test_an_hpa_is_read_with_its_steps_and_what_has_no_counterpart_is_said() -> None:
    found = read(HPA)
    scaling = policy(found).scaling

    assert (scaling.min, scaling.max, scaling.depth_target) == (2, 9, 2.5)
    assert (scaling.cold_step_share, scaling.cold_step_min) == (0.5, 1)
    assert (scaling.step_down, scaling.step_period_s, scaling.stabilisation_s) == (1, 60, 60)
    assert found.lacking == (
        "spec.metrics[1]: cpu of the host says nothing about accelerators; it is left out",
    )


def test_a_trigger_without_counterpart_is_never_dropped_in_silence() -> None:
    text = SEED_001.replace("type: prometheus", "type: cron")

    assert read(text).lacking == ("spec.triggers[0]: a trigger of type cron has no counterpart",)


def test_the_command_prints_policy_faults_and_gains(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "seed.yaml"
    file.write_text(SEED_004)
    code = run(["import", "-f", str(file)])
    said = capsys.readouterr().out

    assert code == 0
    assert "# ScaledObject qwen-7b, which scales qwen-7b" in said
    assert "utilisation_ceiling: 0.75" in said
    assert "# What is wrong with it as it stands:" in said
    assert "# What would be better:" in said
