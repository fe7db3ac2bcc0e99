"""Nodes and pods as an API server sends them, with what it sends besides and nobody needs."""

from typing import Any

import msgspec

from controlplane.adapters.kubernetes.node_shape import Machine, RawNode, keep_node
from controlplane.adapters.kubernetes.pod_shape import Pod, RawPod, keep_pod
from controlplane.domain import marks
from controlplane.domain.catalogue import Catalogue, NodeClass
from controlplane.domain.quantities import ClassName
from controlplane.settings import parse_catalogue

AT = "2026-08-01T10:00:00Z"
AT_S = 1785578400.0
ZONE = "topology.kubernetes.io/zone"
GPU = "nvidia.com/gpu"
NPU = "huawei.com/Ascend910"


def a_machine(
    resources: dict[str, int],
    labels: dict[str, str] | None = None,
    *,
    name: str = "n1",
    healthy: dict[str, int] | None = None,
    annotations: dict[str, str] | None = None,
    taints: list[dict[str, str]] | None = None,
    cordoned: bool = False,
    ready: str = "True",
    images: list[str] | None = None,
) -> Machine:
    counts = {key: str(count) for key, count in resources.items()}
    sound = {key: str(count) for key, count in (healthy or {}).items()}
    native = {"cpu": "96", "memory": "1056Gi", "pods": "110", "hugepages-2Mi": "0"}
    node = {
        "metadata": {
            "name": name,
            "resourceVersion": "7",
            "labels": {"kubernetes.io/hostname": name, ZONE: "z1", **(labels or {})},
            "annotations": {"volumes.kubernetes.io/attached": "true", **(annotations or {})},
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}],
        },
        "spec": {"unschedulable": cordoned, "taints": taints or [], "podCIDR": "10.0.0.0/24"},
        "status": {
            "capacity": {**native, **counts},
            "allocatable": {**native, **counts, **sound},
            "conditions": [
                {"type": "MemoryPressure", "status": "False"},
                {"type": "Ready", "status": ready, "lastHeartbeatTime": AT},
            ],
            "images": [{"names": [image], "sizeBytes": 1} for image in images or []],
        },
    }
    return keep_node(msgspec.json.decode(msgspec.json.encode(node), type=RawNode))


def a_pod(
    status: dict[str, Any] | None = None,
    *,
    name: str = "chat-1",
    namespace: str = "models",
    model: str = "chat",
    node_class: str = "T4",
    lane: str = "",
    node: str = "n1",
    devices: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    spec: dict[str, Any] | None = None,
    **metadata: Any,
) -> Pod | None:
    ours = {marks.MODEL: model, marks.CLASS: node_class, marks.LANE: lane}
    asks = {"cpu": "4", **({GPU: "1"} if devices is None else devices)}
    pod = {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "resourceVersion": "42",
            "creationTimestamp": AT,
            "labels": {"pod-template-hash": "abc", **{k: v for k, v in ours.items() if v}},
            "annotations": annotations or {},
            "ownerReferences": [{"kind": "ReplicaSet", "name": "chat-t4-abc", "controller": True}],
            **metadata,
        },
        "spec": {
            "nodeName": node,
            "containers": [{"name": "engine", "resources": {"requests": asks, "limits": asks}}],
            "tolerations": [{"operator": "Exists"}],
            **(spec or {}),
        },
        "status": {"phase": "Running", "podIP": "10.244.0.9", **(status or {})},
    }
    return keep_pod(msgspec.json.decode(msgspec.json.encode(pod), type=RawPod))


def kept(pod: Pod | None) -> Pod:
    assert pod is not None
    return pod


def container(state: dict[str, Any], name: str = "engine", **more: Any) -> dict[str, Any]:
    return {"name": name, "state": state, "restartCount": 0, "image": "x", **more}


def runs(restarts: int = 0, at: str = AT, **more: Any) -> dict[str, Any]:
    """A status whose engine runs."""
    status = container(
        {"running": {"startedAt": at}}, restartCount=restarts, containerID="containerd://c0ffee42"
    )
    return {
        "containerStatuses": [{**status, **more}],
        "conditions": [placed(), {"type": "Ready", "status": "True"}],
    }


def placed() -> dict[str, Any]:
    return {"type": "PodScheduled", "status": "True"}


FLEET = """
node_classes:
  A100-80G:
    vendor: nvidia
    resource: nvidia.com/gpu
    vram_gib: 80
    price_per_hour: 3
    runtime: {kind: cuda, version: "12.8"}
    labels: {nvidia.com/gpu.product: "(NVIDIA-)?A100-.*80GB.*"}
  MIG-3g.20gb:
    vendor: nvidia
    resource: nvidia.com/mig-3g.20gb
    vram_gib: 20
    price_per_hour: 1
    runtime: {kind: cuda, version: "12.8"}
    labels: {nvidia.com/mig-3g.20gb.product: ".*A100.*"}
  T4:
    vendor: nvidia
    resource: nvidia.com/gpu
    vram_gib: 16
    price_per_hour: 0.5
    runtime: {kind: cuda, version: "12.8"}
    labels: {nvidia.com/gpu.product: "(NVIDIA-|Tesla-)?T4.*"}
  "910B3":
    vendor: ascend
    resource: huawei.com/Ascend910
    vram_gib: 64
    price_per_hour: 3
    runtime: {kind: cann, version: "8.5.0"}
    labels: {node.kubernetes.io/npu.chip.name: "910B3"}
models:
  chat:
    team: a
    need: {vram_gib: 10}
    variants:
      T4: &vllm
        image: "vllm/vllm-openai:v0.11.0"
        runtime: {kind: cuda, version: "12.8"}
        slots: 4
        service_s: 1
      A100-80G: *vllm
"""
CATALOGUE: Catalogue = parse_catalogue(FLEET, "fleet.yaml")


def with_classes(classes: dict[str, NodeClass]) -> Catalogue:
    named = {ClassName(name): size for name, size in classes.items()}
    return Catalogue(node_classes=named, models=CATALOGUE.models)
