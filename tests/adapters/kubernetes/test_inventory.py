"""Nodes by class, from the labels that device plugins and clouds really write."""

from decimal import Decimal

import pytest

from controlplane.adapters.kubernetes.nodes import NO_ZONE, Found, look
from controlplane.domain.catalogue import NodeClass, Runtime
from controlplane.domain.fleet import Node, UnknownNode
from tests.adapters.kubernetes.objects import CATALOGUE, GPU, a_machine, with_classes

T4 = {
    "nvidia.com/gpu.product": "Tesla-T4",
    "nvidia.com/gpu.memory": "15360",
    "nvidia.com/gpu.count": "4",
    "nvidia.com/gpu.replicas": "1",
    "nvidia.com/gpu.family": "turing",
    "nvidia.com/gpu.sharing-strategy": "none",
    "nvidia.com/mig.capable": "false",
    "nvidia.com/gfd.timestamp": "1720000000",
}
A100 = {
    "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
    "nvidia.com/gpu.memory": "81920",
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.replicas": "0",
}


def only(found: Found) -> Node:
    assert found.unknown == ()
    assert len(found.parts) == 1
    return found.parts[0].node


def stranger(found: Found) -> UnknownNode:
    assert found.parts == ()
    assert len(found.unknown) == 1
    return found.unknown[0]


def a_class(resource: str = GPU, vram: float = 24, **labels: str) -> NodeClass:
    return NodeClass(
        vendor="nvidia",
        resource=resource,
        vram_gib=vram,
        price_per_hour=Decimal(1),
        runtime=Runtime(kind="cuda", version="12.8"),
        labels=labels,
    )


def test_a_t4_with_error_correction_is_a_t4_though_it_says_15_gib() -> None:
    node = only(look(a_machine({GPU: 4}, T4), CATALOGUE))

    assert (node.node_class, node.devices, node.zone, node.note) == ("T4", 4, "z1", "")
    assert node.ready
    assert node.schedulable


@pytest.mark.parametrize("product", ["A100-SXM4-80GB", "NVIDIA-A100-SXM4-80GB", "A100-PCIE-80GB"])
def test_the_prefix_of_a_product_depends_on_the_driver(product: str) -> None:
    labels = {**A100, "nvidia.com/gpu.product": product}

    assert only(look(a_machine({GPU: 8}, labels), CATALOGUE)).node_class == "A100-80G"


def test_a_node_without_accelerators_is_not_shown() -> None:
    assert look(a_machine({"rdma/hca": 2}), CATALOGUE) == Found()


def test_unhealthy_devices_do_not_count_and_are_told() -> None:
    node = only(look(a_machine({GPU: 8}, A100, healthy={GPU: 6}), CATALOGUE))

    assert (node.devices, node.note) == (6, "2 of 8 devices are unhealthy")


def test_a_time_sliced_card_counts_once_for_its_shares_keep_no_memory_apart() -> None:
    sliced = {**T4, "nvidia.com/gpu.product": "Tesla-T4-SHARED", "nvidia.com/gpu.replicas": "4",
              "nvidia.com/gpu.sharing-strategy": "time-slicing"}  # fmt: skip
    node = only(look(a_machine({GPU: 16}, sliced, healthy={GPU: 12}), CATALOGUE))

    assert node.node_class == "T4"
    assert node.devices == 3
    assert "1 of 4 devices are unhealthy" in node.note
    assert "advertised 4 times" in node.note


def test_time_slices_under_a_name_of_their_own_need_a_class_that_counts_it() -> None:
    labels = {**T4, "nvidia.com/gpu.replicas": "4"}
    machine = a_machine({"nvidia.com/gpu.shared": 16}, labels)
    shared = a_class("nvidia.com/gpu.shared", 16, **{"nvidia.com/gpu.product": "Tesla-T4"})

    assert only(look(machine, with_classes({"T4-shared": shared}))).devices == 4
    assert (
        "T4 matches its labels but counts nvidia.com/gpu" in stranger(look(machine, CATALOGUE)).why
    )


def test_mig_single_is_devices_of_the_slices_memory() -> None:
    labels = {
        "nvidia.com/gpu.product": "A100-SXM4-40GB-MIG-1g.5gb",
        "nvidia.com/gpu.memory": "4864",
        "nvidia.com/gpu.count": "7",
        "nvidia.com/mig.strategy": "single",
    }
    slices = a_class(GPU, 5, **{"nvidia.com/gpu.product": ".*MIG-1g.5gb"})

    node = only(look(a_machine({GPU: 7}, labels), with_classes({"1g.5gb": slices})))

    assert (node.node_class, node.devices, node.note) == ("1g.5gb", 7, "")


def test_a_slice_is_never_taken_for_the_whole_card_its_name_begins_with() -> None:
    labels = {
        **A100,
        "nvidia.com/gpu.product": "A100-SXM4-80GB-MIG-1g.10gb",
        "nvidia.com/gpu.memory": "9984",
    }
    unknown = stranger(look(a_machine({GPU: 7}, labels), CATALOGUE))

    assert unknown.devices == 7
    assert "9.75 GiB a device, class A100-80G says 80" in unknown.why


def test_mig_mixed_is_one_machine_and_several_nodes() -> None:
    labels = {
        **A100,
        "nvidia.com/mig.strategy": "mixed",
        "nvidia.com/mig-3g.20gb.product": "NVIDIA-A100-SXM4-40GB-MIG-3g.20gb",
        "nvidia.com/mig-3g.20gb.memory": "19968",
        "nvidia.com/mig-3g.20gb.count": "2",
    }
    machine = a_machine({GPU: 6, "nvidia.com/mig-3g.20gb": 2, "nvidia.com/mig-1g.5gb": 3}, labels)
    found = look(machine, CATALOGUE)

    assert [(p.node.name, p.node.node_class, p.node.devices) for p in found.parts] == [
        ("n1", "A100-80G", 6),
        ("n1/mig-3g.20gb", "MIG-3g.20gb", 2),
    ]
    assert [(u.name, u.devices) for u in found.unknown] == [("n1/mig-1g.5gb", 3)]
    assert "resource: nvidia.com/mig-1g.5gb, vram_gib: 5" in found.unknown[0].why


def test_a_resource_of_which_there_is_none_left_hides_behind_the_others() -> None:
    labels = {"nvidia.com/mig-3g.20gb.product": "A100-MIG", **A100}
    found = look(a_machine({GPU: 0, "nvidia.com/mig-3g.20gb": 4}, labels), CATALOGUE)

    assert [part.node.node_class for part in found.parts] == ["MIG-3g.20gb"]


def test_memory_that_contradicts_the_class_is_noted() -> None:
    labels = {**A100, "nvidia.com/gpu.memory": "40960"}

    node = only(look(a_machine({GPU: 8}, labels), CATALOGUE))

    assert node.note == "its labels say 40 GiB a device, class A100-80G says 80"


def test_a_card_of_no_class_is_shown_with_what_to_write() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-L4", "nvidia.com/gpu.memory": "23034",
              "nvidia.com/gfd.timestamp": "1", "team": "x"}  # fmt: skip
    unknown = stranger(look(a_machine({GPU: 2}, labels), CATALOGUE))

    assert (unknown.name, unknown.devices, unknown.zone) == ("n1", 2, "z1")
    assert unknown.labels == {
        "nvidia.com/gpu.product": "NVIDIA-L4",
        "nvidia.com/gpu.memory": "23034",
    }
    assert unknown.why == (
        "no class matches it; add one with resource: nvidia.com/gpu, vram_gib: 22.5 and "
        "labels: {nvidia.com/gpu.product: NVIDIA-L4}"
    )


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("cloud.google.com/gke-accelerator", "nvidia-tesla-t4"),
        ("k8s.amazonaws.com/accelerator", "nvidia-tesla-t4"),
        ("aliyun.accelerator/nvidia_name", "Tesla-T4"),
        ("alibabacloud.com/gpu-model-series", "T4"),
        ("karpenter.k8s.aws/instance-gpu-name", "t4"),
    ],
)
def test_a_clouds_label_is_a_hint_at_the_class_it_should_be_given_to(
    label: str, value: str
) -> None:
    labels = {label: value, "karpenter.k8s.aws/instance-gpu-memory": "16384"}

    unknown = stranger(look(a_machine({GPU: 1}, labels), CATALOGUE))

    assert f"it looks like T4: give that class labels: {{{label}: {value}}}" in unknown.why
    assert unknown.labels[label] == value


def test_a_class_may_recognise_nodes_by_a_clouds_label() -> None:
    gke = a_class(GPU, 80, **{"cloud.google.com/gke-accelerator": "nvidia-a100-80gb"})
    machine = a_machine({GPU: 2}, {"cloud.google.com/gke-accelerator": "nvidia-a100-80gb"})

    assert only(look(machine, with_classes({"A100": gke}))).devices == 2


def test_a_class_without_labels_takes_what_counts_its_resource_if_no_other_does() -> None:
    bare = a_machine({GPU: 2})
    one, two = a_class(GPU, 24), a_class(GPU, 16)

    assert only(look(bare, with_classes({"L4": one}))).node_class == "L4"
    unknown = stranger(look(bare, with_classes({"L4": one, "T4": two})))
    assert "L4 and T4 all count nvidia.com/gpu" in unknown.why
    sized = a_machine({GPU: 2}, {"nvidia.com/gpu.memory": "15360"})
    assert only(look(sized, with_classes({"L4": one, "T4": two}))).node_class == "T4"
    large = a_machine({GPU: 2}, {"nvidia.com/gpu.memory": "81920"})
    assert (
        "80 GiB a device, class L4 says 24" in stranger(look(large, with_classes({"L4": one}))).why
    )


def test_a_labelled_node_without_a_device_plugin_is_shown_and_says_so() -> None:
    ours = only(look(a_machine({}, A100), CATALOGUE))
    assert (ours.devices, ours.note) == (0, "it offers no nvidia.com/gpu")

    labels = {"cloud.google.com/gke-accelerator": "nvidia-l4"}
    theirs = stranger(look(a_machine({}, labels), CATALOGUE))
    assert theirs.why == (
        "it is labelled nvidia-l4 and offers no accelerator: does its device plugin run?"
    )


def test_a_cordoned_silent_or_tainted_node_takes_nobody() -> None:
    tainted = [{"key": "dedicated", "value": "research", "effect": "NoSchedule"}]

    assert not only(look(a_machine({GPU: 4}, T4, cordoned=True), CATALOGUE)).schedulable
    assert not only(look(a_machine({GPU: 4}, T4, ready="Unknown"), CATALOGUE)).ready
    node = only(look(a_machine({GPU: 4}, T4, taints=tainted), CATALOGUE))
    assert not node.schedulable
    assert node.note == "taint dedicated=research:NoSchedule keeps replicas off"


@pytest.mark.parametrize(
    "taint",
    [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NoExecute"},
        {"key": "dedicated", "effect": "PreferNoSchedule"},
        {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
    ],
)
def test_the_vendors_usual_taint_keeps_no_replica_off(taint: dict[str, str]) -> None:
    assert only(look(a_machine({GPU: 4}, T4, taints=[taint]), CATALOGUE)).schedulable


def test_a_cluster_without_zones_is_one_zone() -> None:
    machine = a_machine({GPU: 4}, {**T4, "topology.kubernetes.io/zone": ""})

    assert only(look(machine, CATALOGUE)).zone == NO_ZONE
