"""What of a scaler cannot be read, and what of it a policy cannot say: named, never passed over."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.cli import run
from controlplane.render.importable import unusable
from controlplane.render.imported import Imported, imported
from controlplane.settings.manifests import read_manifests
from tests.render.handover.seeds import HPA, SEED_001, SEED_004

SCALER = """\
kind: ScaledObject
metadata: {name: chat}
spec:
  scaleTargetRef: {name: chat}
  triggers: [{type: prometheus, metadata: {query: sum(waiting), threshold: 5}}]
"""
CONFIG = "horizontalPodAutoscalerConfig"
WINDOW = "behavior.scaleDown.stabilizationWindowSeconds"
PAUSED = "autoscaling.keda.sh/paused"
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


WRITTEN = [read_manifests(text, "x.yaml")[0] for text in (SEED_001, SEED_004, HPA, SCALER)]


def read(text: str) -> Imported:
    return imported(read_manifests(text, "x.yaml")[0])


@pytest.mark.parametrize(
    ("stands", "instead", "fault"),
    [
        ("kind: ScaledObject", "kind: Deployment",
         "kind: Deployment: cannot be imported: ScaledObject or HorizontalPodAutoscaler can"),
        ("kind: ScaledObject\n", "",
         "kind: cannot be imported: ScaledObject or HorizontalPodAutoscaler can"),
        ("{name: chat}\nspec", "{}\nspec", "metadata.name: is missing"),
        (SCALER[SCALER.index("spec"):], "", "spec: is missing"),
        (SCALER[SCALER.index("spec"):], "spec: 7", "spec: 7: must be a mapping"),
        ("{name: chat}\n  triggers", "{}\n  triggers", "spec.scaleTargetRef.name: is missing"),
        ("{name: chat}\n  triggers", "{name: chat, kind: StatefulSet}\n  triggers",
         "spec.scaleTargetRef.kind: StatefulSet: cannot be taken over: only a Deployment can"),
        ("spec:", "spec:\n  minReplicaCount: many",
         "spec.minReplicaCount: many: must be a whole number, at least 0"),
        ("spec:", "spec:\n  minReplicaCount: 9\n  maxReplicaCount: 2",
         "spec.minReplicaCount: 9: is above spec.maxReplicaCount, which is 2"),
        ("[{type", "[{tpye", "spec.triggers[0].type: is missing"),
        (SCALER[SCALER.index("[{"):], "5", "spec.triggers: 5: must be a list of one or more"),
        (SCALER[SCALER.index("[{"):], "[7]", "spec.triggers[0]: 7: must be a mapping"),
        (", metadata: {query: sum(waiting), threshold: 5}", "",
         "spec.triggers[0].metadata: is missing"),
        ("query: sum(waiting)", "query: 7", "spec.triggers[0].metadata.query: 7: must be text"),
        ("threshold: 5", "threshold: five",
         "spec.triggers[0].metadata.threshold: five: must be a number above 0"),
        ("threshold: 5", "threshold: .nan",
         "spec.triggers[0].metadata.threshold: nan: must be a number above 0"),
        ("threshold: 5", "threshold: '-5'",
         "spec.triggers[0].metadata.threshold: -5: must be a number above 0"),
        ("spec:", f"spec:\n  advanced: {{{CONFIG}: {{behavior: {{scaleUp: {{policies: 5}}}}}}}}",
         f"spec.advanced.{CONFIG}.behavior.scaleUp.policies: 5: must be a list"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_its_field_and_value(
    stands: str, instead: str, fault: str
) -> None:
    assert stands in SCALER
    (manifest,) = read_manifests(SCALER.replace(stands, instead), "x.yaml")

    assert str(unusable(manifest, "x.yaml")[0]) == f"x.yaml: {fault}"


@pytest.mark.parametrize(
    ("stands", "instead", "fault"),
    [
        ("  maxReplicas: 9\n", "", "spec.maxReplicas: is missing"),
        ("type: Pods\n      pods", "type: Pods\n      pod", "spec.metrics[0].pods: is missing"),
        ("value: 50", "value: 0",
         "spec.behavior.scaleUp.policies[0].value: 0: must be a whole number, at least 1"),
        ("Percent", "Part",
         "spec.behavior.scaleUp.policies[0].type: Part: must be Pods or Percent"),
        ("Seconds: 60", "Seconds: late",
         f"spec.{WINDOW}: late: must be a whole number, at least 0"),
    ],
)  # fmt: skip
def test_an_hpa_that_cannot_be_read_is_named_alike(stands: str, instead: str, fault: str) -> None:
    assert stands in HPA
    (manifest,) = read_manifests(HPA.replace(stands, instead), "x.yaml")

    assert str(unusable(manifest, "x.yaml")[0]) == f"x.yaml: {fault}"


@settings(deadline=None)
@given(data=st.data())
def test_whatever_stands_in_a_manifest_it_is_read_or_refused(data: st.DataObject) -> None:
    manifest = copy.deepcopy(data.draw(st.sampled_from(WRITTEN)))
    for _ in range(data.draw(st.integers(1, 3))):
        node: Any = manifest
        while isinstance(node, dict | list) and node:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(node[key], dict | list) or data.draw(st.integers(0, 3)) == 0:
                node[key] = data.draw(ANYTHING)
                break
            node = node[key]

    if not unusable(manifest, "x.yaml"):
        assert imported(manifest).target


@pytest.mark.parametrize("manifest", WRITTEN)
def test_what_people_really_write_is_readable(manifest: Any) -> None:
    assert unusable(manifest, "x.yaml") == ()


@pytest.mark.parametrize(
    ("stands", "instead", "lost"),
    [
        ("{name: chat}\nspec", f'{{name: chat, annotations: {{{PAUSED}: "true"}}}}\nspec',
         "metadata.annotations.autoscaling.keda.sh/paused: the policy is not paused"),
        ("spec:", "spec:\n  cooldownPeriod: 300", "spec.cooldownPeriod: 300 before the last"),
        ("spec:", "spec:\n  idleReplicaCount: 0", "spec.idleReplicaCount: there is no"),
        ("spec:", "spec:\n  advanced: {scalingModifiers: {formula: a + b, target: '2'}}",
         "spec.advanced.scalingModifiers: a formula"),
        ("sum(waiting), threshold: 5", "avg(DCGM_FI_DEV_GPU_UTIL), threshold: 150",
         "spec.triggers[0].metadata.threshold: 150 percent is never reached: left out"),
        ("type: prometheus,", "type: prometheus, metricType: Value,",
         "spec.triggers[0].metricType: Value is of all replicas together"),
        ("threshold: 5", "threshold: 5, activationThreshold: '3'",
         "spec.triggers[0].metadata.activationThreshold: one request"),
    ],
)  # fmt: skip
def test_what_a_policy_cannot_say_of_a_scaled_object_is_said(
    stands: str, instead: str, lost: str
) -> None:
    assert read(SCALER).lacking == ()
    (found,) = read(SCALER.replace(stands, instead)).lacking

    assert found.startswith(lost)


@pytest.mark.parametrize(
    ("stands", "instead", "lost"),
    [
        ("scaleUp: {", "scaleUp: {stabilizationWindowSeconds: 30, ",
         "spec.behavior.scaleUp.stabilizationWindowSeconds: a rise does not wait"),
        ("scaleUp: {", "scaleUp: {selectPolicy: Disabled, ",
         "spec.behavior.scaleUp.selectPolicy: Disabled"),
        ("type: Percent, value: 50", "type: Percent, value: 300",
         "spec.behavior.scaleUp.policies[0].value: 300: a step is at most"),
        ("type: Pods, value: 1,", "type: Percent, value: 10,",
         "spec.behavior.scaleDown.policies[0].value: 10 percent: a fall is counted in replicas"),
    ],
)  # fmt: skip
def test_what_a_policy_cannot_say_of_an_hpas_steps_is_said(
    stands: str, instead: str, lost: str
) -> None:
    found = [line for line in read(HPA.replace(stands, instead)).lacking if "cpu" not in line]

    assert [line.startswith(lost) for line in found] == [True]


def test_an_hpa_without_metrics_goes_by_the_cpu_and_that_is_said() -> None:
    text = HPA[: HPA.index("  metrics:")] + "  targetCPUUtilizationPercentage: 80\n"

    assert read(text).lacking[0].startswith("spec.metrics: none are named, so it goes by the cpu")


@pytest.mark.parametrize("text", ["", "kind: List\nitems: []\n"])
def test_a_file_without_a_manifest_is_not_passed_over(
    text: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "none.yaml"
    file.write_text(text)

    assert run(["import", "-f", str(file)]) == 2
    assert capsys.readouterr().err == f"{file}: holds no manifest\n"


def test_a_list_that_is_none_is_one_sentence(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "list.yaml"
    file.write_text("kind: List\nitems: 5\n")

    assert run(["import", "-f", str(file)]) == 2
    assert capsys.readouterr().err == f"{file}: items: 5: must be a list of manifests\n"
