"""Nodes of every kind we meet, as their device plugins and labellers would have them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.cluster.api import Api, Manifest
from tests.cluster.arguments import KUBELET_LABEL, OF_LABEL, PODS_GO_TO, PULL_S

ZONE = "topology.kubernetes.io/zone"
NUDGED, NUDGES, NUDGED_AFTER_S = "tests.controlplane.dev/nudged", 4, 15.0


@dataclass(frozen=True)
class Kind:
    """A kind of machine: what its labels say, and the resource it offers."""

    resource: str
    devices: int
    labels: Mapping[str, str]
    taints: tuple[Manifest, ...] = ()
    more: Mapping[str, str] = field(default_factory=dict)  # further resources


def _gfd(product: str, mib: int, devices: int, family: str, **more: str) -> dict[str, str]:
    return {
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.memory": str(mib),
        "nvidia.com/gpu.count": str(devices),
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/gpu.sharing-strategy": "none",
        "nvidia.com/gpu.family": family,
        "nvidia.com/gpu.present": "true",
        "nvidia.com/cuda.driver-version.full": "570.124.06",
        "nvidia.com/cuda.runtime-version.full": "12.8",
        "nvidia.com/mig.strategy": "none",
        **{key.replace("_", "."): value for key, value in more.items()},
    }


def _ascend(chip: str, gib: int, cores: int) -> dict[str, str]:
    return {
        "accelerator": "huawei-Ascend910",
        "accelerator-type": "module-910b-8",
        "node.kubernetes.io/npu.chip.name": chip,
        "mind-cluster/npu-chip-memory": f"{gib}G",
        "servertype": f"Ascend910-{cores}",
        "huawei.com/driver.version": "25.2.0",
        "host-arch": "huawei-arm",
    }


A100 = Kind("nvidia.com/gpu", 8, _gfd("NVIDIA-A100-SXM4-80GB", 81920, 8, "ampere"))
T4 = Kind("nvidia.com/gpu", 4, _gfd("Tesla-T4", 15360, 4, "turing"))
NPU_910B3 = Kind("huawei.com/Ascend910", 8, _ascend("910B3", 64, 20))
NPU_910B4 = Kind("huawei.com/Ascend910", 8, _ascend("910B4", 32, 20))
CPU = Kind("", 0, {})
KINDS: Mapping[str, Kind] = {
    "A100-80G": A100, "T4": T4, "910B3": NPU_910B3, "910B4": NPU_910B4, "cpu": CPU,
}  # fmt: skip


def node(
    name: str, kind: Kind = CPU, *, zone: str = "z1", kubelet: str = "process",
    devices: int | None = None, labels: Mapping[str, str] | None = None, pull_s: float = 0.0,
) -> Manifest:  # fmt: skip
    """Give a Node; `kubelet` is process for pods that really run, kwok for many that do not."""
    offered = kind.devices if devices is None else devices
    capacity = {
        "cpu": "64", "memory": "512Gi", "pods": "250", **kind.more,
        **({kind.resource: str(offered)} if kind.resource else {}),
    }  # fmt: skip
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                KUBELET_LABEL: kubelet,
                ZONE: zone,
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                **kind.labels,
                **(labels or {}),
            },
            "annotations": {PULL_S: f"{pull_s:g}"} if pull_s else {},
        },
        "spec": {"taints": list(kind.taints)},
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def namespace_of(name: str) -> Manifest:
    """Give a Namespace whose pods go to its own nodes.

    A scheduler whose watch of nodes was cut may yet believe in the nodes of the test before.
    """
    told = {PODS_GO_TO: f"{OF_LABEL}={name}"}
    return {
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "annotations": told},
    }  # fmt: skip


def is_true(kind: str, manifest: Manifest) -> bool:
    """Say whether an object's condition holds."""
    said = manifest.get("status", {}).get("conditions") or ()
    return any(c["type"] == kind and c["status"] == "True" for c in said)


def is_ready(manifest: Manifest) -> bool:
    """Say whether a node or a pod is ready."""
    return is_true("Ready", manifest)


class Nodes:
    """Nodes of one test and its namespace; they are taken away after it."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api = api
        self._namespace = namespace
        self.names: list[str] = []

    async def add(
        self, kind: Kind | str = CPU, count: int = 1, *, zone: str = "z1",
        kubelet: str = "process", devices: int | None = None,
        labels: Mapping[str, str] | None = None, ready: bool = True,
        pull_s: float = 0.0,
    ) -> list[str]:  # fmt: skip
        """Create nodes and await that they are ready; gives their names."""
        chosen = KINDS[kind] if isinstance(kind, str) else kind
        made = []
        for _ in range(count):
            name = f"{self._namespace}-n{len(self.names)}"
            self.names.append(name)
            made.append(name)
            manifest = node(
                name,
                chosen,
                zone=zone,
                kubelet=kubelet,
                devices=devices,
                labels={OF_LABEL: self._namespace, **(labels or {})},
                pull_s=pull_s,
            )
            await self._api.create(manifest)
        for name in made if ready else ():
            await self._usable(f"/api/v1/nodes/{name}")
        return made

    async def _usable(self, path: str) -> None:
        """Await it; a taint that the node controller failed to take off, it forgets.

        It looks again when the node changes, so the node is changed.
        """
        for again in range(NUDGES):
            try:
                await self._api.until(path, _usable, timeout_s=NUDGED_AFTER_S)
            except AssertionError:
                nudge = {"metadata": {"annotations": {NUDGED: str(again)}}}
                await self._api.patch(path, nudge, "merge")
            else:
                return
        await self._api.until(path, _usable)

    async def clear(self) -> None:
        """Take all away."""
        for name in self.names:
            await self._api.delete(f"/api/v1/nodes/{name}")


def _usable(manifest: Manifest) -> bool:
    """Ready, and the controllers have taken the taint off."""
    taints = manifest["spec"].get("taints", ())
    return is_ready(manifest) and not any(
        taint["key"] == "node.kubernetes.io/not-ready" for taint in taints
    )
