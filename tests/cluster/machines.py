"""Machines as vendors' plugins, their labellers and clouds describe them.

Each is a whole Node for the API server, which takes no label or annotation that it could not take
in a real cluster, and beside it what the fleet is to see of it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.cluster.api import Manifest
from tests.cluster.arguments import KUBELET_LABEL, OF_LABEL

GPU, NPU = "nvidia.com/gpu", "huawei.com/Ascend910"


@dataclass(frozen=True)
class Seen:
    """What the fleet is to see: a class and its devices, or why there is no class."""

    node_class: str | None
    devices: int
    said: str = ""  # stands in its note, or in why it is unknown; empty: nothing is noted
    part: str = ""  # of a machine whose cards are cut differently
    takes: bool = True  # replicas may go there


@dataclass(frozen=True)
class Described:
    """One machine: labels, resources, and what is to be seen of it."""

    labels: Mapping[str, str]
    capacity: Mapping[str, int]
    seen: tuple[Seen, ...]
    sound: Mapping[str, int] = field(default_factory=dict)  # allocatable, where it differs
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Manifest, ...] = ()
    zone: str = "z1"

    @property
    def telling(self) -> dict[str, str]:
        """Give what its maker wrote about its cards, which says how to name a class of them."""
        makers = {name.partition("/")[0] for name in self.capacity}
        return {
            key: value
            for key, value in self.labels.items()
            if "timestamp" not in key and _domain(key) in makers
        }


def _domain(key: str) -> str:
    return key.partition("/")[0].removeprefix("beta.")


def manifest(name: str, one: Described, namespace: str) -> Manifest:
    """Give its Node."""
    native = {"cpu": "96", "memory": "1024Gi", "pods": "110", "hugepages-2Mi": "0"}
    counts = {key: str(count) for key, count in one.capacity.items()}
    sound = {key: str(count) for key, count in one.sound.items()}
    labels = {
        KUBELET_LABEL: "kwok", OF_LABEL: namespace, "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": "z1", **one.labels,
    }  # fmt: skip
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {key: value for key, value in labels.items() if value},
            "annotations": dict(one.annotations),
        },
        "spec": {"taints": list(one.taints)},
        "status": {
            "capacity": {**native, **counts},
            "allocatable": {**native, **counts, **sound},
        },
    }


def gfd(
    product: str, mib: int, count: int, *, replicas: int = 1, sharing: str = "", cut: str = "none"
) -> dict[str, str]:
    """Give all that GPU feature discovery writes about whole or equally cut GPUs."""
    return {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.memory": str(mib),
        "nvidia.com/gpu.count": str(count),
        "nvidia.com/gpu.replicas": str(replicas),
        "nvidia.com/gpu.sharing-strategy": sharing or _sharing(replicas),
        "nvidia.com/gpu.family": "ampere",
        "nvidia.com/gpu.compute.major": "8",
        "nvidia.com/gpu.compute.minor": "0",
        "nvidia.com/gpu.machine": "DGXA100-920-23687-2530-000",
        "nvidia.com/cuda.driver-version.full": "550.107.02",
        "nvidia.com/cuda.driver-version.major": "550",
        "nvidia.com/cuda.driver-version.minor": "107",
        "nvidia.com/cuda.driver-version.revision": "02",
        "nvidia.com/cuda.driver.major": "550",
        "nvidia.com/cuda.runtime-version.full": "12.5",
        "nvidia.com/cuda.runtime.major": "12",
        "nvidia.com/gfd.timestamp": "1785578400",
        "nvidia.com/mig.capable": "true",
        "nvidia.com/mps.capable": "false",
        "nvidia.com/mig.strategy": cut,
        "feature.node.kubernetes.io/pci-10de.present": "true",
    }


def _sharing(replicas: int) -> str:
    return "none" if replicas <= 1 else "time-slicing"


def mig(profile: str, mib: int, count: int, *, replicas: int = 1) -> dict[str, str]:
    """Give what stands under a slice's own resource where slices are mixed."""
    key = f"nvidia.com/mig-{profile}"
    return {
        f"{key}.count": str(count), f"{key}.replicas": str(replicas), f"{key}.memory": str(mib),
        f"{key}.sharing-strategy": _sharing(replicas),
        f"{key}.product": f"NVIDIA-A100-SXM4-40GB-MIG-{profile}",
        f"{key}.multiprocessors": "42", f"{key}.slices.gi": "3", f"{key}.slices.ci": "3",
        f"{key}.engines.copy": "3", f"{key}.engines.decoder": "2",
    }  # fmt: skip


def mindcluster(chip: str, memory: str, **more: str) -> dict[str, str]:
    """Give what MindCluster's plugin and its administrators write."""
    return {
        "accelerator": "huawei-Ascend910",
        "accelerator-type": "module-910b-8",
        "node.kubernetes.io/npu.chip.name": chip,
        "mind-cluster/npu-chip-memory": memory,
        "servertype": "Ascend910-20",
        "huawei.com/driver.version": "25.2.0",
        "host-arch": "huawei-arm",
        "workerselector": "dls-worker-node",
        "nodeDEnable": "on",
        "huawei.com/scheduler.chip1softsharedev.enable": "false",
        **more,
    }


def register(kind: str, mib: int, *healths: bool, shares: int = 4) -> str:
    """Write HAMi's register: a card of each health, each offered several times."""
    cards = [
        {"id": f"{kind}-{at}", "index": at, "count": shares, "devmem": mib, "devcore": 20,
         "type": kind, "numa": 0, "mode": "hami-core", "health": health}
        for at, health in enumerate(healths)
    ]  # fmt: skip
    return json.dumps(cards)
