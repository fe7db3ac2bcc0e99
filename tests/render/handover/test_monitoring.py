"""What deploy/prometheus holds is what is rendered, and promtool and the CRDs take it.

Write the files anew: CONTROLPLANE_GOLDEN=write pytest tests/render/handover.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from controlplane.domain.sources import PrometheusSource
from controlplane.render.destination_rule import destination_rule
from controlplane.render.naming import Manifest
from controlplane.render.prometheus_rules import (
    adapter_rules,
    alert_groups,
    pod_monitors,
    recording_groups,
    rule,
)
from controlplane.render.scaled_object import scaled_objects
from controlplane.settings import load_catalogue
from controlplane.settings.manifests import manifests_text
from controlplane.telemetry.metrics import Metrics
from tests.render.handover.golden import check_text

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy" / "prometheus"
SOURCE = PrometheusSource(address="http://prometheus:9090")
RECORDING, ALERTS = recording_groups(SOURCE), alert_groups()
SPACE = "controlplane"

FILES: dict[str, list[Manifest]] = {
    "recording.yaml": [{"groups": RECORDING}],
    "alerts.yaml": [{"groups": ALERTS}],
    "operator.yaml": [
        rule("controlplane-recording", SPACE, RECORDING),
        rule("controlplane-alerts", SPACE, ALERTS),
        *pod_monitors(SPACE),
    ],
    "adapter.yaml": [adapter_rules()],
}
SITUATION = """\
rule_files: [recording.yaml, alerts.yaml]
evaluation_interval: 15s
tests:
  - interval: 15s
    input_series:
      - {series: 'vllm:gpu_cache_usage_perc{pod="a",namespace="n",controlplane_dev_model="chat"}', values: '0.5x80'}
      - {series: 'sglang:num_queue_reqs{pod="b",namespace="n",controlplane_dev_model="s",tp_rank="0"}', values: '7x80'}
      - {series: 'sglang:num_queue_reqs{pod="b",namespace="n",controlplane_dev_model="s",tp_rank="1"}', values: '7x80'}
      - {series: 'sglang:num_queue_reqs{pod="c",namespace="n",controlplane_dev_model="s",tp_rank="0",dp_rank="0"}', values: '3x80'}
      - {series: 'sglang:num_queue_reqs{pod="c",namespace="n",controlplane_dev_model="s",tp_rank="1",dp_rank="0"}', values: '3x80'}
      - {series: 'sglang:num_queue_reqs{pod="c",namespace="n",controlplane_dev_model="s",tp_rank="0",dp_rank="1"}', values: '2x80'}
      - {series: 'vllm:kv_cache_usage_perc{pod="d",namespace="n",controlplane_dev_model="d",engine="0"}', values: '0.7x80'}
      - {series: 'vllm:kv_cache_usage_perc{pod="d",namespace="n",controlplane_dev_model="d",engine="1"}', values: '0.9x80'}
      - {series: 'controlplane_target_replicas{model="chat"}', values: '3x80'}
      - {series: 'controlplane_replicas{model="chat",lane="serving"}', values: '1x80'}
      - {series: 'controlplane_signal_missing{model="chat",signal="queue",priority="low",why="Empty"}', values: '1x80'}
      - {series: 'controlplane_signal_missing{model="chat",signal="vram",priority="",why="NotExported"}', values: '1x80'}
      - {series: 'controlplane_healthy_devices_ratio{model="chat"}', values: '0.75x80'}
      - {series: 'controlplane_healthy_devices_ratio{model="well"}', values: '1x80'}
    promql_expr_test:
      - expr: replica:engine_kv_usage:ratio
        eval_time: 5m
        exp_samples: [{labels: 'replica:engine_kv_usage:ratio{pod="a",namespace="n",controlplane_dev_model="chat",source="vllm"}', value: 0.5}, {labels: 'replica:engine_kv_usage:ratio{pod="d",namespace="n",controlplane_dev_model="d",source="vllm"}', value: 0.9}]
      - expr: replica:engine_waiting:now
        eval_time: 5m
        exp_samples: [{labels: 'replica:engine_waiting:now{pod="b",namespace="n",controlplane_dev_model="s",source="sglang"}', value: 7}, {labels: 'replica:engine_waiting:now{pod="c",namespace="n",controlplane_dev_model="s",source="sglang"}', value: 5}]
    alert_rule_test:
      - eval_time: 12m
        alertname: ControlplaneTargetUnreachable
        exp_alerts: [{exp_labels: {model: chat, severity: warning}, exp_annotations: {summary: "chat lacks 2 replicas in service"}}]
      - eval_time: 6m
        alertname: ControlplaneSignalMissing
        exp_alerts: [{exp_labels: {model: chat, signal: queue, why: Empty, severity: warning}, exp_annotations: {summary: "queue of chat is not known: Empty; nothing is scaled down meanwhile"}}]
      - eval_time: 6m
        alertname: ControlplaneDeviceSick
        exp_alerts: [{exp_labels: {model: chat, severity: warning}, exp_annotations: {summary: "a device of chat is not well by what its exporter says"}}]
"""  # noqa: E501  # series are written as promtool reads them


def test_the_example_of_deploy_istio_is_what_is_rendered() -> None:
    example = load_catalogue(ROOT / "deploy" / "examples" / "fleet.yaml")
    made = [destination_rule(name, example, SPACE, 2) for name in example.models]

    check_text(ROOT / "deploy" / "istio" / "destination-rules.yaml", manifests_text(made))


def test_the_example_of_deploy_keda_is_what_is_rendered() -> None:
    example = load_catalogue(ROOT / "deploy" / "examples" / "fleet.yaml")
    made = [one for name in example.models for one in scaled_objects(name, example, SPACE)]

    check_text(ROOT / "deploy" / "keda" / "scaled-objects.yaml", manifests_text(made))


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_deploy_prometheus_is_what_is_rendered(name: str) -> None:
    check_text(DEPLOY / name, manifests_text(FILES[name]))


def promtool(*arguments: str, cwd: Path) -> None:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    done = subprocess.run(
        [program, *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_takes_the_rules() -> None:
    promtool("check", "rules", "recording.yaml", "alerts.yaml", cwd=DEPLOY)


def test_the_rules_say_what_they_should(tmp_path: Path) -> None:
    for name in ("recording.yaml", "alerts.yaml"):
        shutil.copy(DEPLOY / name, tmp_path)
    (tmp_path / "situation.yaml").write_text(SITUATION)

    promtool("test", "rules", "situation.yaml", cwd=tmp_path)


def test_alerts_name_only_metrics_that_there_are() -> None:
    metrics = Metrics()
    there = {family.name for family in metrics.registry.collect()}
    named = {
        word
        for group in ALERTS
        for one in group["rules"]
        for word in one["expr"].replace("(", " ").replace("{", " ").replace(")", " ").split()
        if word.startswith("controlplane_")
    }

    assert {word.partition(">")[0].partition("-")[0] for word in named} <= there
