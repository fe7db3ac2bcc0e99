"""Cards of makers other than NVIDIA and Huawei, and what a card is told from."""

import pytest

from controlplane.adapters.kubernetes.nodes import Found, look
from tests.adapters.kubernetes.objects import CATALOGUE, GPU, a_machine
from tests.adapters.kubernetes.test_inventory import T4, only, stranger


def test_amd_writes_the_value_into_the_key() -> None:
    machine = a_machine({"amd.com/gpu": 8}, {"beta.amd.com/gpu.vram.64G": "8",
                                             "beta.amd.com/gpu.family.AI": "8"})  # fmt: skip
    assert "resource: amd.com/gpu, vram_gib: 64" in stranger(look(machine, CATALOGUE)).why


@pytest.mark.parametrize(
    "resource",
    ["cambricon.com/mlu", "hygon.com/dcunum", "metax-tech.com/gpu", "aws.amazon.com/neuron"],
)
def test_other_makers_cards_are_seen_too(resource: str) -> None:
    assert stranger(look(a_machine({resource: 4}), CATALOGUE)).devices == 4


def test_a_card_of_a_maker_nobody_told_us_of_is_shown_with_its_makers_labels() -> None:
    machine = a_machine(
        {"enflame.com/gcu": 8, "rdma/hca": 4}, {"enflame.com/gcu.model": "S60", "team": "x"}
    )
    unknown = stranger(look(machine, CATALOGUE))

    assert (unknown.devices, dict(unknown.labels)) == (8, {"enflame.com/gcu.model": "S60"})
    assert "resource: enflame.com/gcu" in unknown.why


def test_a_further_name_for_cards_that_are_counted_already_is_no_second_card() -> None:
    machine = a_machine({GPU: 4, "volcano.sh/vgpu-number": 40, "aliyun.com/gpu-count": 4}, T4)

    assert only(look(machine, CATALOGUE)).devices == 4


@pytest.mark.parametrize(
    "resource", ["huawei.com/npu-core", "cambricon.com/mlu.smlu.vcore",
                 "cambricon.com/mlu370.smlu.vmemory"]
)  # fmt: skip
def test_parts_of_cards_that_are_cut_on_demand_are_shown_and_count_no_device(resource: str) -> None:
    unknown = stranger(look(a_machine({resource: 160}), CATALOGUE))

    assert unknown.devices == 0
    assert unknown.why == f"it offers {resource}, parts of cards; a class counts whole ones"


@pytest.mark.parametrize(
    "resource",
    ["nvidia.com/gpumem", "nvidia.com/gpucores", "huawei.com/Ascend910B3-memory",
     "aliyun.com/gpu-mem", "volcano.sh/vgpu-memory", "example.com/cpu"],
)  # fmt: skip
def test_memory_and_cores_are_no_devices(resource: str) -> None:
    assert look(a_machine({resource: 65536}), CATALOGUE) == Found()
