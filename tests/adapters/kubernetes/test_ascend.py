"""Ascend under MindCluster and under HAMi: one resource for all chips, units in labels."""

from decimal import Decimal

import msgspec
import pytest

from controlplane.adapters.kubernetes.nodes import look
from controlplane.domain.catalogue import NodeClass, Runtime
from tests.adapters.kubernetes.objects import CATALOGUE, GPU, NPU, a_machine, with_classes
from tests.adapters.kubernetes.test_inventory import only, stranger

B3 = {
    "accelerator": "huawei-Ascend910",
    "accelerator-type": "module-910b-8",
    "node.kubernetes.io/npu.chip.name": "910B3",
    "mind-cluster/npu-chip-memory": "64G",
    "servertype": "Ascend910-20",
    "host-arch": "huawei-arm",
}


def test_a_910b3_counts_as_ascend910_and_its_memory_has_a_unit() -> None:
    node = only(look(a_machine({NPU: 8}, B3), CATALOGUE))

    assert (node.node_class, node.devices, node.note) == ("910B3", 8, "")


def test_a_910b4_is_no_910b3_though_it_counts_the_same_resource() -> None:
    labels = {
        **B3,
        "node.kubernetes.io/npu.chip.name": "910B4",
        "mind-cluster/npu-chip-memory": "32G",
    }
    unknown = stranger(look(a_machine({NPU: 8}, labels), CATALOGUE))

    assert unknown.why == (
        "no class matches it; add one with resource: huawei.com/Ascend910, vram_gib: 32 and "
        "labels: {node.kubernetes.io/npu.chip.name: 910B4}"
    )
    assert "host-arch" not in unknown.labels


def test_a_chip_whose_memory_contradicts_its_name_is_noted() -> None:
    node = only(look(a_machine({NPU: 8}, {**B3, "mind-cluster/npu-chip-memory": "32G"}), CATALOGUE))

    assert node.note == "its labels say 32 GiB a device, class 910B3 says 64"


@pytest.mark.parametrize(
    ("annotations", "labels", "left"),
    [
        ({f"{NPU}-Unhealthy": "Ascend910-2"}, {}, 7),
        ({f"{NPU}-Unhealthy": "Ascend910-2,Ascend910-5"}, {}, 6),
        ({f"{NPU}-NetworkUnhealthy": "Ascend910-0"}, {}, 7),
        ({f"{NPU}-Unhealthy": "Ascend910-2"}, {f"{NPU}-Recover": "2"}, 7),
        ({}, {f"{NPU}-Recover": "2.3", f"{NPU}-NetworkRecover": "4"}, 5),
        ({f"{NPU}-Unhealthy": ""}, {}, 8),
    ],
)
def test_chips_that_are_set_aside_do_not_count(
    annotations: dict[str, str], labels: dict[str, str], left: int
) -> None:
    node = only(look(a_machine({NPU: 8}, {**B3, **labels}, annotations=annotations), CATALOGUE))

    assert node.devices == left
    assert node.note == (f"{8 - left} of 8 devices are unhealthy" if left < 8 else "")


def test_a_chip_the_kubelet_took_out_already_is_not_taken_twice() -> None:
    told = {f"{NPU}-Unhealthy": "Ascend910-2"}
    node = only(look(a_machine({NPU: 8}, B3, healthy={NPU: 7}, annotations=told), CATALOGUE))

    assert node.devices == 7


def test_a_static_slice_has_the_memory_its_name_says() -> None:
    machine = a_machine({"huawei.com/Ascend910-10c.3cpu.16g": 4}, B3)

    assert (
        "910B3 matches its labels but counts huawei.com/Ascend910"
        in stranger(look(machine, CATALOGUE)).why
    )
    assert "vram_gib: 16" in stranger(look(machine, CATALOGUE)).why


def register(*healths: bool, memory: int = 65536) -> str:
    cards = [
        {"id": f"npu-{at}", "count": 4, "devmem": memory, "devcore": 20, "type": "Ascend910B3",
         "numa": 0, "health": health}
        for at, health in enumerate(healths)
    ]  # fmt: skip
    return msgspec.json.encode(cards).decode()


def test_under_hami_the_register_counts_the_cards_and_the_resource_counts_shares() -> None:
    hami = NodeClass(
        vendor="ascend", resource="huawei.com/Ascend910B3", vram_gib=64, price_per_hour=Decimal(3),
        runtime=Runtime(kind="cann", version="8.5.0"), labels={"ascend": "on"},
    )  # fmt: skip
    machine = a_machine(
        {"huawei.com/Ascend910B3": 32, "huawei.com/Ascend910B3-memory": 524288},
        {"ascend": "on"},
        annotations={
            "hami.io/node-register-Ascend910B3": register(*[True] * 7, False),
            "hami.io/node-handshake-Ascend910B3": "Requesting_2026.08.01 10:00:00",
        },
    )
    node = only(look(machine, with_classes({"910B3": hami})))

    assert node.devices == 7
    assert "1 of 8 devices are unhealthy" in node.note
    assert "hami.io/node-handshake-Ascend910B3" not in machine.annotations  # it beats for ever


@pytest.mark.parametrize(
    "text",
    [
        '[{"id":"GPU-0","count":10,"devmem":15360,"type":"NVIDIA-Tesla T4","health":true}]',
        "GPU-0,10,15360,100,NVIDIA-Tesla T4,0,true:",
    ],
)
def test_ten_shares_of_one_gpu_under_hami_are_one_gpu(text: str) -> None:
    machine = a_machine(
        {GPU: 10},
        {"nvidia.com/gpu.product": "Tesla-T4"},
        annotations={"hami.io/node-nvidia-register": text},
    )
    node = only(look(machine, CATALOGUE))

    assert (node.node_class, node.devices) == ("T4", 1)
