"""Named profiles: each report's own figures, in the settings everybody has."""

import pytest

from controlplane.domain.policies import ModelPolicy
from controlplane.domain.priorities import Priority
from controlplane.settings import PROFILES, merge, parse_catalogue, profile
from tests.settings.fleet_text import SMALL, with_line

HIGH, MEDIUM, LOW = Priority.HIGH, Priority.MEDIUM, Priority.LOW


def policy_of(text: str) -> ModelPolicy:
    return parse_catalogue(text, "fleet.yaml").models["classifier"].policy  # type: ignore[index]  # a NewType of str


def test_the_default_profile_is_the_defaults() -> None:
    assert profile("controlplane").policy == ModelPolicy()


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_can_be_read_and_says_whose_it_is(name: str) -> None:
    assert profile(name).summary.endswith(".")


def test_seed_000_is_its_reports_figures() -> None:
    policy = profile("seed-000").policy
    scaling, spare, admission = policy.scaling, policy.spare, policy.admission

    assert (scaling.min, scaling.max) == (2, 12)
    assert (scaling.depth_target, scaling.depth_hysteresis) == (5, 0.5)
    assert scaling.depth_weights == {HIGH: 3, MEDIUM: 2, LOW: 1}
    assert (scaling.cooldown_s, scaling.p99) == (120, True)
    assert {p: o.wait_p99_s for p, o in policy.objectives.items()} == {
        HIGH: 0.5,
        MEDIUM: 2,
        LOW: 10,
    }
    assert (spare.kind, spare.count, spare.rotate_s) == ("warm", 2, 1800)
    assert admission.limits == "fixed"
    assert admission.fixed_limits == {HIGH: 8, MEDIUM: 4, LOW: 2}
    assert admission.queue_bounds == {HIGH: 50, MEDIUM: 100, LOW: 200}
    assert (admission.minimum_service_s, admission.ageing_s) == (15, None)


def test_seed_001_is_its_reports_figures() -> None:
    policy = profile("seed-001").policy
    scaling = policy.scaling

    assert (scaling.depth_target, scaling.watermark, scaling.p99) == (5, 0.85, True)
    assert scaling.depth_weights == {HIGH: 1, MEDIUM: 1, LOW: 1}
    assert (scaling.stabilisation_s, scaling.step_up) == (120, 1)
    assert (policy.spare.kind, policy.spare.count) == ("warm", 2)


def test_seed_004_is_its_reports_figures() -> None:
    policy = profile("seed-004").policy
    scaling = policy.scaling

    assert (scaling.min, scaling.max) == (2, 10)
    assert (scaling.utilisation_ceiling, scaling.utilisation_alone) == (0.75, True)
    assert (scaling.utilisation_floor, scaling.depth_target) == (0.4, 10)
    assert {o.latency_p99_s for o in policy.objectives.values()} == {2}
    assert (scaling.step_up, scaling.step_down) == (1, 1)
    assert (scaling.cooldown_s, scaling.cooldown_up) == (300, True)
    assert policy.spare.drain_limit_s == 30


def test_a_profile_says_what_is_not_built_yet() -> None:
    assert any("LSTM" in note and "not built yet" in note for note in profile("seed-004").notes)


@pytest.mark.parametrize("name", ["seed-000", "seed-001"])
def test_a_profile_says_what_its_mesh_became(name: str) -> None:
    (note,) = [note for note in profile(name).notes if "mesh" in note]

    assert "gateway" in note
    assert "not built" not in note


def test_seed_001_breaks_as_its_mesh_did() -> None:
    breaker = policy_of(with_line(10, "profile: seed-001\nmodels:")).breaker

    assert (breaker.pending, breaker.requests_per_connection) == (10, 5)
    assert (breaker.replica_failures, breaker.interval_s, breaker.ejection_s) == (3, 30, 60)


def test_a_model_writes_over_its_profile_field_by_field() -> None:
    text = with_line(10, "profile: seed-000\nmodels:")  # its policy sets min, max and reserve

    policy = policy_of(text)

    assert (policy.scaling.min, policy.scaling.max, policy.admission.reserve) == (1, 3, 1)
    assert (policy.scaling.depth_target, policy.admission.limits) == (5, "fixed")


def test_what_a_model_writes_wins_even_when_it_is_the_default() -> None:
    text = with_line(10, "profile: seed-000\nmodels:", with_line(23, "spare: {count: 0}"))

    assert policy_of(text).spare.count == 0


def test_a_mapping_by_class_is_merged_class_by_class() -> None:
    text = with_line(23, "admission: {queue_bounds: {high: 7}}")

    assert policy_of(text).admission.queue_bounds == {HIGH: 7, MEDIUM: 100, LOW: 200}


def test_a_models_own_profile_wins_over_the_fleets() -> None:
    text = with_line(12, "team: support\n    profile: seed-004", SMALL)
    text = with_line(10, "profile: seed-000\nmodels:", text)

    assert policy_of(text).scaling.depth_target == 10


def test_null_turns_a_rule_of_the_profile_off() -> None:
    policy = merge(profile("seed-000").policy, {"scaling": {"depth_target": None}})

    assert policy.scaling.depth_target is None
    assert policy.scaling.max == 12


def test_merging_checks_what_is_written_over() -> None:
    with pytest.raises(ValueError, match=r"scaling\.max: 0: must be above 0"):
        merge(ModelPolicy(), {"scaling": {"max": 0}})


def test_an_unknown_profile_names_what_may_have_been_meant() -> None:
    with pytest.raises(ValueError, match="profile: seed-4: is no profile; did you mean seed-004"):
        profile("seed-4")
