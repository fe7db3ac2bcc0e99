"""Every kind of fault in a fleet file is one line: file:line: field: value: rule."""

import pytest

from tests.settings.fleet_text import SMALL, faults_of, with_line

VARIANT = "models.classifier.variants.T4"
SCALING = "models.classifier.policy.scaling"
ADMISSION = "models.classifier.policy.admission"

# what is wrong -> the line that is replaced, by what, and the fault after "fleet.yaml:"
FAULTS = {
    "an unknown field with a near name": (
        5,
        "vram: 16",
        "5: node_classes.T4.vram: 16: is not known; did you mean vram_gib?",
    ),
    "an unknown field that exists elsewhere": (
        12,
        "team: support\n    min: 3",
        (
            "13: models.classifier.min: 3: is not known here; "
            "it belongs to models.*.policy.scaling.min"
        ),
    ),
    "an unknown field like no other": (
        13,
        "need: {vram_gib: 7, colour: red}",
        (
            "13: models.classifier.need.colour: red: is not known; "
            "known here: vram_gib, weights_gib, kv, overhead_gib"
        ),
    ),
    "a missing field": (
        12,
        "kind: other",
        "11: models.classifier.team: is missing and has no default",
    ),
    "a version that YAML reads as a number": (
        7,
        "runtime: {kind: cuda, version: 12.10}",
        '7: node_classes.T4.runtime.version: 12.10: must be text: write "12.10" in quotes',
    ),
    "a version that is none": (
        7,
        "runtime: {kind: cuda, version: twelve}",
        "7: node_classes.T4.runtime.version: twelve: is no version such as 12.8, 8.5.0 or 8.3.RC2",
    ),
    "a label's pattern that is none": (
        7,
        'runtime: {kind: cuda, version: "12.8"}\n    labels: {a/b: "T4("}',
        "8: node_classes.T4.labels.a/b: T4(: is no regular expression",
    ),
    "a number in quotes": (
        5,
        'vram_gib: "16"',
        "5: node_classes.T4.vram_gib: 16: must be a number, not text",
    ),
    "a number that is none": (
        5,
        "vram_gib: .nan",
        "5: node_classes.T4.vram_gib: .nan: is not a finite number",
    ),
    "a number below its bound": (
        5,
        "vram_gib: -16",
        "5: node_classes.T4.vram_gib: -16: must be above 0",
    ),
    "a number above its bound": (
        22,
        "scaling: {watermark: 1.2}",
        f"22: {SCALING}.watermark: 1.2: must be at most 1",
    ),
    "a field without a value": (
        5,
        "vram_gib:",
        "5: node_classes.T4.vram_gib: is empty; must be a number",
    ),
    "a price that is no amount": (
        6,
        "price_per_hour: cheap",
        "6: node_classes.T4.price_per_hour: cheap: must be an amount of money, such as 2.50",
    ),
    "a negative price, shown as written": (
        6,
        "price_per_hour: -0.10",
        "6: node_classes.T4.price_per_hour: -0.10: must be at least 0",
    ),
    "a word that is not in the list": (
        3,
        "vendor: nvida",
        (
            "3: node_classes.T4.vendor: nvida: must be one of nvidia, ascend, amd, cambricon, "
            "other; did you mean nvidia?"
        ),
    ),
    "an empty text": (
        4,
        'resource: ""',
        '4: node_classes.T4.resource: "": must have at least 1 character',
    ),
    "half a slot": (18, "slots: 8.5", f"18: {VARIANT}.slots: 8.5: must be a whole number"),
    "true where a number belongs": (
        18,
        "slots: true",
        f"18: {VARIANT}.slots: true: must be a whole number",
    ),
    "a word where true or false belongs": (
        22,
        "scaling: {p99: yes}",
        f"22: {SCALING}.p99: yes: must be true or false, not text",
    ),
    "a name that cannot be a label": (
        12,
        "team: no way",
        (
            "12: models.classifier.team: no way: "
            "is no name: letters, digits and - _ . inside, at most 63"
        ),
    ),
    "a figure where a mapping belongs": (
        13,
        "need: 7",
        "13: models.classifier.need: 7: must be a mapping, one `field: value` a line",
    ),
    "a figure where a list belongs": (
        13,
        "need: {vram_gib: 7}\n    tensor_parallel: 2",
        "14: models.classifier.tensor_parallel: 2: must be a list",
    ),
    "an empty list where something must be": (
        13,
        "need: {vram_gib: 7}\n    tensor_parallel: []",
        "14: models.classifier.tensor_parallel: […]: must have at least 1 element",
    ),
    "a priority class that does not exist": (
        23,
        "admission: {guarantee: {hi: 0.5}}",
        f"23: {ADMISSION}.guarantee.hi: hi: must be one of high, medium, low; did you mean high?",
    ),
    "an unknown profile of the fleet": (
        10,
        "profile: seed-00\nmodels:",
        "10: profile: seed-00: is no profile; did you mean seed-004?",
    ),
    "an unknown profile of a model": (
        12,
        "team: support\n    profile: fast",
        (
            "13: models.classifier.profile: fast: is no profile; "
            "there are controlplane, saving, service, seed-000, seed-001, seed-004"
        ),
    ),
    "a Deployment no cluster can have": (
        18,
        "slots: 8\n        deployment: Their_Chat",
        (
            f"19: {VARIANT}.deployment: Their_Chat: is no name in a cluster: "
            "small letters, digits and - . inside, at most 253"
        ),
    ),
    "a key written twice": (
        19,
        "slots: 4",
        f"19: {VARIANT}.slots: written twice, first in line 18",
    ),
}


def test_a_good_file_has_no_faults() -> None:
    assert faults_of(SMALL) == []


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_one_line_with_place_field_value_and_rule(what: str) -> None:
    line, written, fault = FAULTS[what]

    assert f"fleet.yaml:{fault}" in faults_of(with_line(line, written))


@pytest.mark.parametrize("what", [w for w in FAULTS if not w.startswith(("a key", "an unknown"))])
def test_a_fault_says_no_more_than_what_is_wrong(what: str) -> None:
    line, written, fault = FAULTS[what]

    assert faults_of(with_line(line, written)) == [f"fleet.yaml:{fault}"]


def test_all_faults_come_at_once_in_the_order_of_the_file() -> None:
    text = with_line(3, "vendor: acme", with_line(18, "slots: 0", with_line(12, "kind: chat")))

    lines = [fault.split(":")[1] for fault in faults_of(text)]

    assert lines == ["3", "11", "18"]


def test_a_typing_error_does_not_hide_a_rule_between_fields() -> None:
    text = with_line(22, "scaling: {min: 50, max: 10}", with_line(23, "spare: {kind: hot}"))

    fields = [fault.split(": ")[1] for fault in faults_of(text)]

    assert fields == [f"{SCALING}.min", "models.classifier.policy.spare.kind"]


def test_a_faulty_class_is_still_known_to_those_who_name_it() -> None:
    l4 = "  L4: {vendor: acme, resource: x, vram_gib: 24, price_per_hour: 1, runtime: *cuda}"
    pool = "  - {node_class: L4, zone: zone-a, nodes: 1, devices_per_node: 1}"
    text = with_line(7, f'runtime: &cuda {{kind: cuda, version: "12.8"}}\n{l4}')
    text = with_line(11, f"{pool}\nmodels:", text)
    text = with_line(25, "admission: {guarantee: {low: 1, high: 1}}", text)

    fields = [fault.split(": ")[1] for fault in faults_of(text)]

    assert fields == ["node_classes.L4.vendor", "models.classifier.policy.admission.guarantee"]


def test_what_is_faulty_itself_breaks_no_rule_between_fields() -> None:
    """The only memory figure is wrong; that the model states none would be a false lead."""
    faults = faults_of(with_line(13, "need: {vram_gib: lots}"))

    assert faults == [
        "fleet.yaml:13: models.classifier.need.vram_gib: lots: must be a number, not text"
    ]
