"""What is rendered for a cluster: golden files, and the facts that must hold whatever is set."""

from typing import Any

import pytest

from controlplane.domain import marks
from controlplane.domain.quantities import ClassName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane
from controlplane.render.deployment import budget, deployment
from controlplane.render.endpoints import model_service
from controlplane.render.event import MOST_BYTES, Regarding, event, shortened
from controlplane.render.naming import dns_label
from controlplane.render.placing import Ground, NowhereError, node_affinity, tolerations
from controlplane.render.pre_pull import pre_pull
from controlplane.render.ray_service import NoGroupError, replicas_patch
from tests.render.golden_files import FOLDER, RENDERED, written
from tests.render.variants import CATALOGUE, NPU, PLAIN, SPACE, T4, everything, plain

ABOUT = Regarding(name="embed-t4", namespace=SPACE, uid="u1")


@pytest.mark.parametrize("name", RENDERED)
def test_a_manifest_is_as_it_was_looked_at(name: str) -> None:
    golden = (FOLDER / f"{name}.json").read_text("utf-8")

    assert written(RENDERED[name]()) == golden


def test_the_lane_is_in_the_services_selector_and_in_no_deployments() -> None:
    made = deployment(plain(), 1)["spec"]
    service = model_service(PLAIN, CATALOGUE.models[PLAIN], SPACE)["spec"]

    assert service["selector"] == {marks.MODEL: PLAIN, marks.LANE: Lane.SERVING.value}
    assert marks.LANE not in made["selector"]["matchLabels"]
    assert marks.LANE not in made["template"]["metadata"]["labels"]


def test_a_stream_outlives_the_end_of_its_replica() -> None:
    serving = everything().model.serving
    pod = deployment(everything(), 1)["spec"]["template"]["spec"]
    sleep = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]

    left = pod["terminationGracePeriodSeconds"] - sleep

    assert left > serving.longest_request_s


def test_a_kubelet_gives_a_start_longer_than_we_do() -> None:
    for of in (plain(), everything()):
        probe = deployment(of, 1)["spec"]["template"]["spec"]["containers"][0]["startupProbe"]

        given = probe["failureThreshold"] * probe["periodSeconds"]

        assert given > max(of.model.policy.spare.load_limit_s, of.variant.load_s)


def test_a_replica_asks_for_whole_devices_with_request_equal_to_limit() -> None:
    pod = deployment(everything(), 1)["spec"]["template"]["spec"]
    resources = pod["containers"][0]["resources"]

    assert resources["limits"]["huawei.com/Ascend910"] == "4"
    assert resources["requests"]["huawei.com/Ascend910"] == "4"


def required(affinity: dict[str, Any]) -> list[dict[str, Any]]:
    found = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    terms: list[dict[str, Any]] = found["nodeSelectorTerms"][0]["matchExpressions"]
    return terms


def test_a_pattern_becomes_the_values_that_were_seen() -> None:
    (term,) = required(node_affinity("T4", CATALOGUE.node_classes[T4], plain().ground))

    assert term["values"] == ["NVIDIA-T4-SHARED", "Tesla-T4"]


def test_a_value_that_is_written_out_needs_no_node_to_be_seen() -> None:
    (term,) = required(node_affinity("910B3", CATALOGUE.node_classes[NPU], Ground()))

    assert term["values"] == ["910B3"]


def test_a_pattern_of_which_nothing_was_seen_is_refused_with_field_and_value() -> None:
    with pytest.raises(NowhereError, match=r"node_classes\.T4\.labels\.nvidia\.com/gpu\.product"):
        node_affinity("T4", CATALOGUE.node_classes[T4], Ground())


def test_what_says_that_a_node_is_in_trouble_is_not_tolerated() -> None:
    keys = {each["key"] for each in tolerations(CATALOGUE.node_classes[T4], plain().ground)}

    assert keys == {"nvidia.com/gpu", "nvidia.com/mig"}


def test_taints_of_the_house_are_tolerated_where_the_class_names_them() -> None:
    keys = {each["key"] for each in tolerations(CATALOGUE.node_classes[NPU], Ground())}

    assert "example.com/inference" in keys


@pytest.mark.parametrize(
    ("of", "unsatisfiable"), [(plain(), "ScheduleAnyway"), (everything(), "DoNotSchedule")]
)
def test_the_spread_over_zones_is_soft_unless_it_is_said_to_be_strict(
    of: Any, unsatisfiable: str
) -> None:
    (spread,) = deployment(of, 1)["spec"]["template"]["spec"]["topologySpreadConstraints"]

    assert spread["whenUnsatisfiable"] == unsatisfiable
    assert spread["nodeTaintsPolicy"] == "Honor"


def test_a_budget_counts_every_lane_lest_no_node_can_be_drained() -> None:
    assert budget(plain())["spec"]["selector"]["matchLabels"] == plain().labels


def test_a_class_nobody_runs_on_needs_no_image_holder() -> None:
    catalogue = type(CATALOGUE)(
        node_classes={**CATALOGUE.node_classes, ClassName("H100"): CATALOGUE.node_classes[T4]},
        models=CATALOGUE.models,
    )

    assert pre_pull(catalogue, ClassName("H100"), SPACE, Ground()) is None


@pytest.mark.parametrize(
    ("written_as", "name"),
    [("Llama_3.1-8B", "llama-3-1-8b"), ("70b", "m-70b"), ("x" * 80, "x" * 63)],
)
def test_a_services_name_is_a_dns_label(written_as: str, name: str) -> None:
    assert dns_label(written_as) == name


def test_the_same_said_again_is_the_same_event() -> None:
    first = event(ABOUT, ReasonCode.PROMOTED, "a is put in service", "T1", "me")
    again = event(ABOUT, ReasonCode.PROMOTED, "a is put in service", "T2", "other")
    other = event(ABOUT, ReasonCode.PROMOTED, "b is put in service", "T1", "me")

    assert first["metadata"] == again["metadata"] != other["metadata"]
    assert first["reason"] == "Promoted"


def test_a_long_note_is_cut_at_the_end_of_a_letter() -> None:
    cut = shortened("备" * 1000)

    assert len(cut.encode()) <= MOST_BYTES
    assert cut.endswith("备…")


RAY = {
    "metadata": {"name": "big"},
    "spec": {
        "rayClusterConfig": {
            "workerGroupSpecs": [
                {"groupName": "cpu", "replicas": 1},
                {"groupName": "gpu", "replicas": 2, "minReplicas": 1, "maxReplicas": 4},
            ]
        }
    },
}


def test_a_ray_service_is_sized_at_its_worker_group_and_its_victims_named() -> None:
    patch = replicas_patch(RAY, "gpu", 1, ["w-1"])

    group = "/spec/rayClusterConfig/workerGroupSpecs/1"
    assert patch == [
        {"op": "test", "path": f"{group}/groupName", "value": "gpu"},
        {"op": "add", "path": f"{group}/replicas", "value": 1},
        {"op": "add", "path": f"{group}/scaleStrategy", "value": {"workersToDelete": ["w-1"]}},
    ]


def test_a_ray_service_grows_beyond_its_own_maximum() -> None:
    group = "/spec/rayClusterConfig/workerGroupSpecs/1"

    patch = replicas_patch(RAY, "gpu", 6, [])

    assert {"op": "add", "path": f"{group}/maxReplicas", "value": 6} in patch


def test_a_ray_service_without_the_group_says_which_it_has() -> None:
    with pytest.raises(NoGroupError, match="it has cpu, gpu"):
        replicas_patch(RAY, "tpu", 1, [])
