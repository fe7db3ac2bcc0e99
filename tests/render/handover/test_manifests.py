"""What KEDA, an HPA and Istio are given: golden files, and what must hold whatever is set."""

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.handover import ScalerMetric
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.render.behavior import LONGEST_WINDOW_S
from controlplane.render.destination_rule import destination_rule
from controlplane.render.hpa import hpas
from controlplane.render.scaled_object import (
    LONGEST_NAME,
    PAUSED,
    PAUSED_REPLICAS,
    Hold,
    scaled_objects,
)
from controlplane.render.triggers import NoTriggerError, target_size
from controlplane.settings import parse_catalogue
from controlplane.settings.manifests import manifests_text, read_manifests
from tests.render.handover.fleet import NAMESPACE, TEXT, a_fleet
from tests.render.handover.golden import check

FLEET = a_fleet()
CHAT, BOTH, QWEN = ModelName("chat"), ModelName("both"), ModelName("qwen-7b")


@pytest.mark.parametrize("name", list(FLEET.models))
def test_a_scaled_object_that_carries_out_our_decision(name: ModelName) -> None:
    check(f"keda-target-{name}.yaml", scaled_objects(name, FLEET, NAMESPACE))


@pytest.mark.parametrize("trigger", ["drain", "wait_p99", "weighted_depth", "prometheus"])
def test_a_scaled_object_that_decides_on_a_signal(trigger: Any) -> None:
    check(f"keda-{trigger}-chat.yaml", scaled_objects(CHAT, FLEET, NAMESPACE, trigger))


@pytest.mark.parametrize("name", ["sdxl", "qwen-7b"])
def test_a_seeds_policy_as_prometheus_triggers(name: ModelName) -> None:
    check(f"keda-prometheus-{name}.yaml", scaled_objects(name, FLEET, NAMESPACE, "prometheus"))


def test_an_hpa_for_those_without_keda() -> None:
    check("hpa-both.yaml", hpas(BOTH, FLEET, NAMESPACE))


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_destination_rule(version: str) -> None:
    fleet = parse_catalogue(f"{TEXT}istio: {{version: {version}}}\n", "fleet.yaml")

    check(f"istio-{version}-chat.yaml", [destination_rule(CHAT, fleet, NAMESPACE, 4)])


@pytest.mark.parametrize(("replicas", "percent"), [(0, None), (1, None), (2, 50), (5, 40), (8, 50)])
def test_a8_one_replica_is_never_ejected_of_two_at_most_one(
    replicas: int, percent: int | None
) -> None:
    rule = destination_rule(CHAT, FLEET, NAMESPACE, replicas)["spec"]["trafficPolicy"]

    outliers = rule.get("outlierDetection")
    assert (outliers and outliers["maxEjectionPercent"]) == percent
    if outliers:
        assert outliers["minHealthPercent"] > 0  # the panic threshold is explicit


def test_zero_which_istio_takes_for_unset_is_never_a_limit() -> None:
    for name in FLEET.models:
        pool = destination_rule(name, FLEET, NAMESPACE)["spec"]["trafficPolicy"]["connectionPool"]
        assert min(v for part in pool.values() for v in part.values() if isinstance(v, int)) > 0


def test_every_value_of_trigger_metadata_is_text() -> None:
    for kind in get_args(ScalerMetric):
        (made,) = scaled_objects(CHAT, FLEET, NAMESPACE, kind)
        (trigger,) = made["spec"]["triggers"]
        assert {type(value) for value in trigger["metadata"].values()} == {str}


def test_under_target_the_hpa_adds_no_damping_of_its_own() -> None:
    behavior = _behavior(scaled_objects(CHAT, FLEET, NAMESPACE)[0])

    assert behavior["scaleUp"] == behavior["scaleDown"]
    assert behavior["scaleDown"]["stabilizationWindowSeconds"] == 0
    assert behavior["scaleDown"]["tolerance"] == "0"  # from 10 on, 1 more is within a tenth


def test_an_older_kubernetes_gets_no_tolerance() -> None:
    fleet = parse_catalogue(f"{TEXT}keda: {{tolerance: false}}\n", "fleet.yaml")

    assert "tolerance" not in _behavior(scaled_objects(CHAT, fleet, NAMESPACE)[0])["scaleUp"]


def test_bounds_hold_target_and_spares_and_the_one_that_is_rotated() -> None:
    spec = scaled_objects(CHAT, FLEET, NAMESPACE)[0]["spec"]

    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (2 + 2, 12 + 2 + 1)
    assert "cooldownPeriod" not in spec  # it acts at zero alone


def test_k4_held_at_zero_is_written_as_a_number_and_wins_over_paused() -> None:
    held = scaled_objects(CHAT, FLEET, NAMESPACE, hold=Hold(paused=True, replicas=0))[0]

    assert held["metadata"]["annotations"][PAUSED_REPLICAS] == "0"
    assert PAUSED not in held["metadata"]["annotations"]


def test_a_signal_cannot_size_two_classes() -> None:
    with pytest.raises(NoTriggerError, match="2 classes and the trigger drain"):
        scaled_objects(BOTH, FLEET, NAMESPACE, "drain")


def test_a_failure_of_ours_never_takes_a_replica_away() -> None:
    for name in FLEET.models:
        for made in scaled_objects(name, FLEET, NAMESPACE):
            least, fallback = made["spec"]["minReplicaCount"], made["spec"].get("fallback")
            if least == 0:  # KEDA leaves alone what has none, and empties what falls back to 0
                assert fallback is None
            else:
                assert fallback["behavior"] == "currentReplicasIfHigher"
                assert fallback["replicas"] == least


def test_where_any_is_wanted_keda_may_not_take_the_last_however_long_we_are_away() -> None:
    classes = list(FLEET.models[BOTH].variants)
    made = scaled_objects(BOTH, FLEET, NAMESPACE, wanted={classes[0]: 3, classes[1]: 0})
    first, second = (one["spec"] for one in made)

    assert (first["minReplicaCount"], second["minReplicaCount"]) == (1, 0)
    assert first["fallback"] == {
        "failureThreshold": 3, "replicas": 1, "behavior": "currentReplicasIfHigher",
    }  # fmt: skip
    assert "cooldownPeriod" not in first
    assert "fallback" not in second


@pytest.mark.parametrize("wanted", [0, 1, 50])
def test_what_is_wanted_moves_no_bound_that_people_set(wanted: int) -> None:
    (made,) = scaled_objects(CHAT, FLEET, NAMESPACE, wanted={ClassName("A100-80G"): wanted})

    assert made == scaled_objects(CHAT, FLEET, NAMESPACE)[0]


@pytest.mark.parametrize(("polling_s", "cooldown_s"), [(2, 60), (15, 60), (90, 180)])
def test_one_wrong_answer_of_keda_itself_empties_nothing(polling_s: int, cooldown_s: int) -> None:
    fleet = parse_catalogue(f"{TEXT}keda: {{polling_s: {polling_s}}}\n", "fleet.yaml")
    for made in scaled_objects(BOTH, fleet, NAMESPACE):
        spec = made["spec"]
        assert (spec["minReplicaCount"], spec["pollingInterval"]) == (0, polling_s)
        assert spec["cooldownPeriod"] == spec["initialCooldownPeriod"] == cooldown_s


@pytest.mark.parametrize("long", ["a-very-long-model-name-as-catalogues-have-them-now", "m" * 63])
def test_a_long_name_leaves_room_for_kedas_prefix_and_fits_its_label(long: str) -> None:
    fleet = parse_catalogue(TEXT.replace("  chat: &chat", f"  {long}: &chat"), "fleet.yaml")
    made = scaled_objects(ModelName(long), fleet, NAMESPACE)[0]

    config = made["spec"]["advanced"]["horizontalPodAutoscalerConfig"]
    assert len(config["name"]) <= LONGEST_NAME
    assert len(made["metadata"]["name"]) <= LONGEST_NAME
    assert made["spec"]["scaleTargetRef"]["name"] == f"{long}-a100-80g"


@given(
    st.one_of(st.none(), st.floats(0, 1e6)),
    st.one_of(st.none(), st.integers(1, 50)),
    st.one_of(st.none(), st.floats(0, 1)),
    st.floats(0.1, 1e5),
)
def test_whatever_the_policy_the_behaviour_is_one_the_api_server_takes(
    window: float | None, step: int | None, share: float | None, period: float
) -> None:
    fleet = _with_scaling(
        stabilisation_s=window,
        step_up=step,
        step_down=step,
        cold_step_share=share,
        step_period_s=period,
    )
    behavior = _behavior(scaled_objects(QWEN, fleet, NAMESPACE, "weighted_depth")[0])

    for rules in behavior.values():
        assert 0 <= rules["stabilizationWindowSeconds"] <= LONGEST_WINDOW_S
        assert rules["policies"]
        for policy in rules["policies"]:
            assert policy["value"] > 0
            assert 1 <= policy["periodSeconds"] <= 1800


def test_targets_are_whole_and_above_zero() -> None:
    scaling = FLEET.models[CHAT].policy.scaling

    assert target_size("target", scaling) == 1
    assert target_size("weighted_depth", scaling) == 5
    assert target_size("wait_p99", scaling) == 1000
    assert target_size("drain", scaling) == 30_000


def test_yaml_is_read_back_as_it_was_rendered() -> None:
    for name in FLEET.models:
        made = scaled_objects(name, FLEET, NAMESPACE)
        assert read_manifests(manifests_text(made), "x") == made


def _behavior(scaled_object: dict[str, Any]) -> dict[str, Any]:
    config = scaled_object["spec"]["advanced"]["horizontalPodAutoscalerConfig"]
    found: dict[str, Any] = config["behavior"]
    return found


def _with_scaling(**scaling: Any) -> Catalogue:
    model = FLEET.models[QWEN]
    policy = replace(model.policy, scaling=replace(model.policy.scaling, **scaling))
    return replace(FLEET, models={**FLEET.models, QWEN: replace(model, policy=policy)})
