"""Rules between fields of a fleet file, and what is accepted with a warning."""

import pytest

from controlplane.settings import parse_catalogue, warnings
from tests.settings.fleet_text import SMALL, faults_of, warnings_of, with_line

SCALING = "models.classifier.policy.scaling"

INCOHERENT = {
    "T5: min above max names both values": (
        22,
        "scaling: {min: 50, max: 10}",
        f"22: {SCALING}.min: 50: must not be above max, which is 10",
    ),
    "min above the default max": (
        22,
        "scaling: {min: 9}",
        f"22: {SCALING}.min: 9: must not be above max, which is 8",
    ),
    "a band of utilisation upside down": (
        22,
        "scaling: {utilisation_floor: 0.8, utilisation_ceiling: 0.7}",
        f"22: {SCALING}.utilisation_floor: 0.8: must be below utilisation_ceiling, which is 0.7",
    ),
    "a need without a figure": (
        13,
        "need: {overhead_gib: 2}",
        (
            "13: models.classifier.need: "
            "states no memory: give vram_gib, or weights_gib (and kv, overhead_gib)"
        ),
    ),
    "a pool of an unknown class": (
        9,
        "- {node_class: T40, zone: zone-a, nodes: 1, devices_per_node: 4}",
        "9: pools[0].node_class: T40: is no node class of this file; did you mean T4?",
    ),
    "a variant on an unknown class": (
        15,
        "L40:",
        "15: models.classifier.variants.L40: L40: is no node class of this file; there are T4",
    ),
    "a pair of an unknown model": (
        10,
        (
            "pairs:\n  - {model: clasifier, runtime: {kind: cuda, version: '12.4'}, "
            "verdict: tested}\nmodels:"
        ),
        "11: pairs[0].model: clasifier: is no model of this file; did you mean classifier?",
    ),
    "guarantees of more than the whole": (
        23,
        "admission: {guarantee: {high: 0.7, low: 0.4}}",
        (
            "23: models.classifier.policy.admission.guarantee: "
            "must not add up to more than 1, but 0.7 + 0.4 = 1.1"
        ),
    ),
    "an HPA that would have to go to zero": (
        22,
        "scaling: {min: 0, writer: hpa}",
        (
            f"22: {SCALING}.min: 0: must be at least 1 where an HPA writes the number: "
            "it never goes to zero"
        ),
    ),
    "a load limit no replica can keep": (
        23,
        "spare: {load_limit_s: 60}",
        (
            "23: models.classifier.policy.spare.load_limit_s: 60: "
            "must be above the load time on T4, which is 90 s"
        ),
    ),
    "a currency that is no code": (
        1,
        "currency: usd\nnode_classes:",
        "1: currency: usd: must be an ISO 4217 code such as USD or CNY",
    ),
}


@pytest.mark.parametrize("what", INCOHERENT)
def test_a_rule_between_fields_is_a_fault_with_its_place(what: str) -> None:
    line, written, fault = INCOHERENT[what]

    assert faults_of(with_line(line, written)) == [f"fleet.yaml:{fault}"]


def test_a_pair_has_one_verdict() -> None:
    pair = "  - {model: classifier, runtime: {kind: cuda, version: '12.4'}, verdict: tested}\n"
    text = SMALL + "pairs:\n" + pair + pair.replace("tested", "denied")

    assert faults_of(text) == [
        "fleet.yaml:26: pairs[1]: classifier with cuda 12.4 is listed already, as pairs[0]"
    ]


def test_t10_a_window_shorter_than_the_load_time_is_accepted_with_a_warning_naming_both() -> None:
    text = with_line(22, "scaling: {min: 1, max: 3, stabilisation_s: 60}")

    assert faults_of(text) == []
    assert warnings_of(text) == [
        (
            f"fleet.yaml:22: {SCALING}.stabilisation_s: 60: is shorter than the measured load time "
            "of 90 s + 30 s: replicas may be given up before they helped"
        )
    ]


def test_an_ejection_that_ends_before_a_replica_can_have_recovered_warns_that_it_flaps() -> None:
    policy = "breaker: {ejection_s: 60}"

    assert warnings_of(with_line(22, policy)) == [
        (
            "fleet.yaml:22: models.classifier.policy.breaker.ejection_s: 60: is shorter than the"
            " measured load time of 90 s: a replica that restarts is let in before it can answer,"
            " and ejected again"
        )
    ]
    assert warnings_of(with_line(22, "breaker: {ejection_s: 90}")) == []


@pytest.mark.parametrize("written", ["stabilisation_s: 300", "stabilisation_s: 120", "max: 3"])
def test_t10_a_window_that_outlasts_a_load_is_accepted_in_silence(written: str) -> None:
    """The default window is made of the load time itself."""
    assert warnings_of(with_line(22, f"scaling: {{{written}}}")) == []


def test_t10_seed_004_waits_300_s_and_warns_of_nothing_but_what_is_not_built() -> None:
    warnings = warnings_of(with_line(10, "profile: seed-004\nmodels:"))

    assert warnings
    assert all("stabilisation_s" not in warning for warning in warnings)


DOUBTFUL = {
    "P3: an image newer than the class": (
        17,
        'runtime: {kind: cuda, version: "13.0"}',
        (
            "15: models.classifier.variants.T4: can never run here: its image is built for CUDA "
            "13.0 and the class supports up to CUDA 12.8"
        ),
    ),
    "a model bigger than the card": (
        13,
        "need: {vram_gib: 20}",
        (
            "15: models.classifier.variants.T4: can never run here: it needs 20 GiB and there are "
            "14 GiB"
        ),
    ),
    "a reserve that keeps everything from low": (
        23,
        "admission: {reserve: 8}",
        (
            "23: models.classifier.policy.admission.reserve: 8: keeps all 8 slots of a replica on "
            "T4 from low, which then gets minimum service only"
        ),
    ),
    "a latency below the service time": (
        23,
        "objectives: {high: {wait_p99_s: 1, latency_p99_s: 0.05}}",
        (
            "23: models.classifier.policy.objectives.high.latency_p99_s: 0.05: is below the mean "
            "service time on T4, 0.08 s: no number of replicas can keep it"
        ),
    ),
}


@pytest.mark.parametrize("what", DOUBTFUL)
def test_what_is_probably_not_meant_is_a_warning(what: str) -> None:
    line, written, warning = DOUBTFUL[what]
    text = with_line(line, written)

    assert faults_of(text) == []
    assert f"fleet.yaml:{warning}" in warnings_of(text)


def test_a_denied_pair_is_meant_and_no_warning() -> None:
    denied = "{model: classifier, runtime: {kind: cuda, version: '12.4'}, verdict: denied}"

    warnings = warnings_of(f"{SMALL}pairs:\n  - {denied}\n")

    assert warnings == [
        "fleet.yaml:11: models.classifier: fits no node class, and will never be served"
    ]


def test_a_price_loses_no_digit() -> None:
    catalogue = parse_catalogue(with_line(6, "price_per_hour: 21.40"), "fleet.yaml")
    (node_class,) = catalogue.node_classes.values()

    assert str(node_class.price_per_hour) in ("21.4", "21.40")


def test_a_catalogue_in_force_can_be_asked_for_its_warnings() -> None:
    short = with_line(22, "scaling: {stabilisation_s: 60}")
    catalogue = parse_catalogue(with_line(10, "profile: seed-001\nmodels:", short), "fleet.yaml")

    said = warnings(catalogue)

    assert any(one.startswith("profile: seed-001: its breaker") for one in said)
    assert any(one.startswith(f"{SCALING}.stabilisation_s: 60: is shorter") for one in said)


SECOND = """\
  {name}:
    team: support
    need: {{vram_gib: 7}}
    variants:
      {node_class}:
        image: registry.example.com/classifier:1
        runtime: {{kind: cuda, version: "12.4"}}
        slots: 8
        service_s: 0.08
        load_s: 90
"""


@pytest.mark.parametrize(
    ("first", "second", "workload"),
    [
        (("classifier", "T4"), ("Classifier", "T4"), "classifier-t4"),
        (("classifier", "T4"), ("CLASSIFIER", "T4"), "classifier-t4"),
        (("a", "b-T4"), ("a-b", "T4"), "a-b-t4"),
        (("a_b", "T4"), ("a-b", "T4"), "a-b-t4"),
    ],
)
def test_t3_a_workload_named_twice_is_refused_naming_the_first(
    first: tuple[str, str], second: tuple[str, str], workload: str
) -> None:
    head, _ = SMALL.split("models:\n")
    other = head.replace("node_classes:\n", "").split("pools:")[0].replace("  T4:", "  b-T4:")
    head = head.replace("pools:", f"{other}pools:")
    blocks = [SECOND.format(name=name, node_class=on) for name, on in (first, second)]

    (fault,) = faults_of(f"{head}models:\n{''.join(blocks)}")

    model, node_class = second
    assert f"models.{model}.variants.{node_class}: {node_class}: would be the Deployment" in fault
    assert f"{workload}, as is models.{first[0]}.variants.{first[1]}" in fault


def test_t3_the_same_variant_twice_in_one_model_is_refused_naming_the_line_of_the_first() -> None:
    block = SMALL[SMALL.index("      T4:\n") : SMALL.index("    policy:")]
    again = SMALL.replace("    policy:", f"{block}    policy:")

    (fault,) = faults_of(again)

    assert fault.endswith("models.classifier.variants.T4: written twice, first in line 15")


def test_a_model_is_not_called_what_the_whole_fleet_is_called() -> None:
    (fault,) = faults_of(SMALL.replace("  classifier:", "  all:"))

    assert "models.all: is what the whole fleet is called" in fault


@pytest.mark.parametrize(
    ("first", "second", "service"), [("x.y", "x-y", "x-y"), ("7b", "m-7b", "m-7b")]
)
def test_two_models_never_mean_the_same_service(first: str, second: str, service: str) -> None:
    head, _ = SMALL.split("models:\n")
    blocks = [SECOND.format(name=name, node_class="T4") for name in (first, second)]

    (fault,) = faults_of(f"{head}models:\n{''.join(blocks)}")

    told = f"models.{second}: would be the Service {service}, as is models.{first}; name it"
    assert told in fault
