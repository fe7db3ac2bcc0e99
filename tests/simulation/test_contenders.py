"""Policies by name, and what a scenario becomes under each."""

import pytest

from controlplane.decide.scaling.variants import variants
from controlplane.domain.faults import FaultsError
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.simulation.contenders import PROFILES, contender
from controlplane.simulation.library import load_scenario
from controlplane.simulation.sweep import contestants

SCENARIO = load_scenario("seed-000").scenario
CHAT = ModelName("chat-70b")


@pytest.mark.parametrize("name", ["kpa", "hpa:0.7", "keda-queue:5", "static:6"])
def test_a_peer_drives_plain_deployments_behind_the_same_queues(name: str) -> None:
    one = contender(name, SCENARIO)
    policy = one.catalogue.models[CHAT].policy

    assert one.self_serving
    assert (policy.scaling.min, policy.scaling.max) == (4, 12)
    assert policy.admission.queue_bounds[Priority.MEDIUM] == 100
    assert policy.admission.limits == "scaled"


@pytest.mark.parametrize("name", PROFILES)
def test_ours_is_bounded_and_judged_by_the_scenario_whatever_its_profile_aims_at(name: str) -> None:
    one = contender(name, SCENARIO)
    policy = one.catalogue.models[CHAT].policy

    assert not one.self_serving
    assert (policy.scaling.min, policy.scaling.max) == (4, 12)
    assert policy.objectives[Priority.HIGH].wait_p99_s == 0.1


def test_a_seed_brings_its_own_front_door() -> None:
    policy = contender("seed-000", SCENARIO).catalogue.models[CHAT].policy

    assert policy.admission.limits == "fixed"
    assert policy.admission.fixed_limits[Priority.HIGH] == 8
    assert policy.spare.count == 2


def test_a_static_fleet_stands_from_the_start_and_the_others_begin_with_the_scenario() -> None:
    assert contender("static:9", SCENARIO).initial == {CHAT: 9}
    assert contender("hpa:0.7", SCENARIO).initial == {CHAT: 4}


def test_the_model_fits_its_class_with_as_many_devices_as_the_scenario_says() -> None:
    catalogue = contender("kpa", SCENARIO).catalogue
    (facts,) = variants(catalogue).facts[CHAT]

    assert (facts.node_class, facts.devices, facts.slots) == (ClassName("A100-80G"), 1, 14)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("hpa", "must be one of controlplane"),
        ("hpa:1.2", "above 0 and at most 1"),
        ("hpa:fast", "above 0 and at most 1"),
        ("keda-queue:0", "above 0"),
        ("static:3", "within the scenario's 4..12"),
        ("static:many", "within the scenario's 4..12"),
        ("controlplane:thrifty", "must be one of"),
    ],
)
def test_a_name_that_is_no_policy_is_refused_with_the_rule(name: str, rule: str) -> None:
    with pytest.raises(FaultsError, match=rule) as refused:
        contender(name, SCENARIO)

    assert refused.value.lines[0].startswith(f"policy: {name}: ")


def test_a_sweep_holds_every_policy_the_comparison_promises() -> None:
    names = contestants(SCENARIO)

    assert set(PROFILES) < set(names)
    assert {f"static:{n}" for n in range(4, 13)} < set(names)
    assert {"hpa:0.5", "hpa:0.85", "keda-queue:1", "keda-queue:50", "kpa"} < set(names)
    for name in names:
        contender(name, SCENARIO)
