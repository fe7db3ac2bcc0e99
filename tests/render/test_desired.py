"""Everything a catalogue asks of a cluster, and what counts as a change of it."""

from dataclasses import replace
from typing import Any

import pytest

from controlplane.domain import marks
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.overrides import FLEET
from controlplane.domain.policies import ModelPolicy, ScalingPolicy
from controlplane.domain.serving import Serving
from controlplane.render.desired import Wanted, desired
from controlplane.render.placing import Ground
from tests.render.variants import CATALOGUE, EVERYTHING, NPU, PLAIN, SEEN, SPACE, T4

DEVICES = {(PLAIN, T4): 1, (EVERYTHING, NPU): 4}


def asked(catalogue: Catalogue = CATALOGUE, ground: Ground = SEEN) -> dict[str, Wanted]:
    return desired(catalogue, DEVICES, SPACE, {T4: ground})


def seal(wanted: Wanted) -> str:
    assert wanted.manifest is not None
    return str(wanted.manifest["metadata"]["annotations"][marks.RENDERED])


def with_plain(**changes: object) -> Catalogue:
    changed = replace(CATALOGUE.models[PLAIN], **changes)  # type: ignore[arg-type]  # a test's fields
    return replace(CATALOGUE, models={**CATALOGUE.models, PLAIN: changed})


def test_every_variant_has_a_deployment_and_a_budget_every_model_a_service() -> None:
    assert {key: wanted.subject for key, wanted in asked().items()} == {
        "Deployment/embed-t4": PLAIN,
        "PodDisruptionBudget/embed-t4": PLAIN,
        "Service/embed": PLAIN,
        "Deployment/llama-70b-ascend-910b3": EVERYTHING,
        "PodDisruptionBudget/llama-70b-ascend-910b3": EVERYTHING,
        "Service/llama-70b": EVERYTHING,
        "DaemonSet/pre-pull-t4": FLEET,
        "DaemonSet/pre-pull-ascend-910b3": FLEET,
    }


def test_what_follows_the_nodes_is_no_change() -> None:
    other = Ground(values={"nvidia.com/gpu.product": ("T4-X",)}, taints=("nvidia.com/new",))

    for key in ("Deployment/embed-t4", "DaemonSet/pre-pull-t4"):
        before, after = asked()[key], asked(ground=other)[key]
        assert before.manifest != after.manifest
        assert seal(before) == seal(after)


def test_what_a_person_changes_is_a_change() -> None:
    before = asked()
    longer = asked(with_plain(serving=Serving(longest_request_s=300)))
    sizes = {
        **CATALOGUE.node_classes,
        T4: replace(CATALOGUE.node_classes[T4], taints=("house/gpu",)),
    }
    tolerating = asked(replace(CATALOGUE, node_classes=sizes))

    assert seal(before["Deployment/embed-t4"]) != seal(longer["Deployment/embed-t4"])
    assert seal(before["Deployment/embed-t4"]) != seal(tolerating["Deployment/embed-t4"])
    assert seal(before["Service/embed"]) == seal(longer["Service/embed"])


def test_without_a_node_to_name_the_deployment_is_refused_and_the_rest_stands() -> None:
    wanted = asked(ground=Ground())

    assert wanted["Deployment/embed-t4"].manifest is None
    assert "nvidia.com/gpu.product" in wanted["Deployment/embed-t4"].why
    assert wanted["Service/embed"].manifest is not None
    assert "DaemonSet/pre-pull-t4" not in wanted


def test_an_adopted_deployment_is_named_and_not_rendered() -> None:
    variant = replace(CATALOGUE.models[PLAIN].variants[T4], deployment="their-embed")

    wanted = asked(with_plain(variants={T4: variant}))

    assert wanted["Deployment/their-embed"].adopted
    assert wanted["Deployment/their-embed"].manifest is None
    assert "Service/embed" not in wanted


def test_kuberay_makes_its_own_pods() -> None:
    wanted = asked(with_plain(serving=Serving(scheduled_by="kuberay")))

    assert "Deployment/embed-t4" not in wanted


def test_a_number_somebody_else_writes_is_marked() -> None:
    policy = ModelPolicy(scaling=ScalingPolicy(writer="keda"))

    assert asked(with_plain(policy=policy))["Deployment/embed-t4"].elsewhere
    assert not asked()["Deployment/embed-t4"].elsewhere


@pytest.mark.parametrize(
    ("writer", "begins"), [("keda", 0), ("controlplane", 0), ("hpa", 1), ("nobody", 1)]
)
def test_an_hpa_leaves_nought_alone_and_keda_takes_it_from_there(writer: Any, begins: int) -> None:
    """A replica on every class would wait for devices that nobody chose."""
    policy = ModelPolicy(scaling=ScalingPolicy(writer=writer))

    assert asked(with_plain(policy=policy))["Deployment/embed-t4"].begins == begins


def test_kueue_is_told_the_queue_on_the_deployment_and_on_its_pods() -> None:
    serving = Serving(scheduled_by="kueue", queue="gpus")
    manifest = asked(with_plain(serving=serving))["Deployment/embed-t4"].manifest

    assert manifest is not None
    label = {"kueue.x-k8s.io/queue-name": "gpus"}
    assert label.items() <= manifest["metadata"]["labels"].items()
    assert label.items() <= manifest["spec"]["template"]["metadata"]["labels"].items()
    assert not label.items() <= manifest["spec"]["selector"]["matchLabels"].items()
