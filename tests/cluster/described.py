"""The machines of the label tests, and a fleet file whose classes know some of them."""

from collections.abc import Mapping

from tests.cluster.machines import (
    GPU,
    NPU,
    Described,
    Seen,
    gfd,
    mig,
    mindcluster,
    register,
)

_CLASS = """
  {name}:
    vendor: {vendor}
    resource: {resource}
    vram_gib: {vram}
    price_per_hour: 1
    runtime: {{kind: {kind}, version: "{version}"}}
    labels: {{{labels}}}
"""
_CLASSES = (
    ("T4", GPU, 16, 'nvidia.com/gpu.product: "(NVIDIA-)?Tesla-T4.*"'),
    ("A100-40G", GPU, 40, 'nvidia.com/gpu.product: "(NVIDIA-)?A100-.*40GB"'),
    ("A100-80G", GPU, 80, 'nvidia.com/gpu.product: "(NVIDIA-)?A100-.*80GB.*"'),
    ("MIG-1g.5gb", GPU, 5, 'nvidia.com/gpu.product: ".*-MIG-1g.5gb"'),
    ("MIG-3g.20gb", "nvidia.com/mig-3g.20gb", 20, 'nvidia.com/mig-3g.20gb.product: ".*A100.*"'),
    ("T4-shared", "nvidia.com/gpu.shared", 16, 'nvidia.com/gpu.product: "Tesla-T4"'),
    ("GKE-A100", GPU, 40, "cloud.google.com/gke-accelerator: nvidia-tesla-a100"),
    ("910A", NPU, 32, "node.kubernetes.io/npu.chip.name: 910A"),
    ("910B3", NPU, 64, "node.kubernetes.io/npu.chip.name: 910B3"),
    ("910B4", NPU, 32, "node.kubernetes.io/npu.chip.name: 910B4"),
    ("910-16g", f"{NPU}-10c.3cpu.16g", 16, "node.kubernetes.io/npu.chip.name: 910B.*"),
    ("310P3", "huawei.com/Ascend310P", 24, "accelerator: huawei-Ascend310P"),
    ("HAMi-910B3", "huawei.com/Ascend910B3", 64, "ascend: on"),
    ("HAMi-910B4", "huawei.com/Ascend910B4", 32, "ascend: on"),
)


def _fleet() -> str:
    classes = ""
    for name, resource, vram, labels in _CLASSES:
        huawei = resource.startswith("huawei")
        classes += _CLASS.format(
            name=f'"{name}"',
            vendor="ascend" if huawei else "nvidia",
            resource=resource,
            vram=vram,
            kind="cann" if huawei else "cuda",
            version="8.5.1" if huawei else "12.5",
            labels=labels.replace(": on", ': "on"'),
        )
    return f"node_classes:{classes}{_MODEL}"


_MODEL = """
models:
  chat:
    team: support
    need: {vram_gib: 10}
    variants:
      T4: {image: "emulated:1", runtime: {kind: cuda, version: "12.5"}, slots: 4, service_s: 1}
"""
FLEET = _fleet()
USUAL = ({"key": GPU, "value": "present", "effect": "NoSchedule"},)
DEDICATED = ({"key": "dedicated", "value": "research", "effect": "NoSchedule"},)

NVIDIA: Mapping[str, Described] = {
    "t4": Described(  # its error correction takes a sixteenth
        {**gfd("Tesla-T4", 15360, 4), "nvidia.com/gpu.family": "turing"},
        {GPU: 4}, (Seen("T4", 4),), taints=USUAL,
    ),
    "a100-old-driver": Described(gfd("A100-SXM4-40GB", 39538, 8), {GPU: 8}, (Seen("A100-40G", 8),)),
    "a100-new-driver": Described(
        gfd("NVIDIA-A100-SXM4-80GB", 81920, 8, replicas=0), {GPU: 8}, (Seen("A100-80G", 8),)
    ),
    "two-ill": Described(
        gfd("NVIDIA-A100-SXM4-80GB", 81920, 8), {GPU: 8},
        (Seen("A100-80G", 6, "2 of 8 devices are unhealthy"),), sound={GPU: 6},
    ),
    "all-ill": Described(
        gfd("Tesla-T4", 15360, 4), {GPU: 4},
        (Seen("T4", 0, "4 of 4 devices are unhealthy"),), sound={GPU: 0},
    ),
    "no-plugin": Described(
        gfd("Tesla-T4", 15360, 4), {}, (Seen("T4", 0, f"it offers no {GPU}"),)
    ),
    "dedicated": Described(
        gfd("Tesla-T4", 15360, 4), {GPU: 4}, taints=DEDICATED,
        seen=(Seen("T4", 4, "taint dedicated=research:NoSchedule keeps", takes=False),),
    ),
    "time-sliced": Described(
        gfd("Tesla-T4-SHARED", 15360, 4, replicas=4), {GPU: 16},
        (Seen("T4", 4, "each device is advertised 4 times"),),
    ),
    "time-sliced-ill": Described(
        gfd("Tesla-T4-SHARED", 15360, 4, replicas=4), {GPU: 16},
        (Seen("T4", 3, "1 of 4 devices are unhealthy"),), sound={GPU: 12},
    ),
    "renamed": Described(
        gfd("Tesla-T4", 15360, 4, replicas=4), {"nvidia.com/gpu.shared": 16, GPU: 0},
        (Seen("T4-shared", 4, "each device is advertised 4 times"),),
    ),
    "mps": Described(
        gfd("Tesla-T4-SHARED", 15360, 2, replicas=10, sharing="mps"), {GPU: 20},
        (Seen("T4", 2, "each device is advertised 10 times"),),
    ),
    "mig-single": Described(
        {**gfd("A100-SXM4-40GB-MIG-1g.5gb", 4864, 56, cut="single"),
         "nvidia.com/gpu.slices.gi": "1", "nvidia.com/gpu.multiprocessors": "14"},
        {GPU: 56}, (Seen("MIG-1g.5gb", 56),),
    ),
    "mig-single-unknown": Described(
        gfd("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", 9728, 7, cut="single"), {GPU: 7},
        (Seen(None, 7, "9.5 GiB a device, class A100-80G says 80"),),
    ),
    "mig-mixed": Described(
        {**gfd("NVIDIA-A100-SXM4-40GB", 40960, 8, cut="mixed"),
         **mig("3g.20gb", 19968, 2), **mig("1g.5gb", 4864, 3)},
        {GPU: 6, "nvidia.com/mig-3g.20gb": 2, "nvidia.com/mig-1g.5gb": 3},
        (Seen("A100-40G", 6), Seen("MIG-3g.20gb", 2, part="mig-3g.20gb"),
         Seen(None, 3, "resource: nvidia.com/mig-1g.5gb", part="mig-1g.5gb")),
    ),
    "mig-mixed-all-cut": Described(
        {**gfd("NVIDIA-A100-SXM4-40GB", 40960, 1, cut="mixed"), **mig("3g.20gb", 19968, 2)},
        {GPU: 0, "nvidia.com/mig-3g.20gb": 2}, (Seen("MIG-3g.20gb", 2),),
    ),
    "mig-mixed-shared": Described(
        {**gfd("NVIDIA-A100-SXM4-40GB", 40960, 1, cut="mixed"),
         **mig("3g.20gb", 19968, 2, replicas=5)},
        {GPU: 0, "nvidia.com/mig-3g.20gb": 10},
        (Seen("MIG-3g.20gb", 2, "each device is advertised 5 times"),),
    ),
    "hami": Described(
        {**gfd("Tesla-T4", 15360, 2), "gpu": "on"}, {GPU: 8},
        (Seen("T4", 1, "1 of 2 devices are unhealthy"),),
        annotations={
            "hami.io/node-nvidia-register": register("NVIDIA-Tesla T4", 15360, True, False),
            "hami.io/node-handshake": "Requesting_2026.08.01 10:00:00",
        },
    ),
    "hami-old": Described(
        gfd("Tesla-T4", 15360, 1), {GPU: 10}, (Seen("T4", 1, "advertised 10 times"),),
        annotations={"hami.io/node-nvidia-register": "GPU-0,10,15360,100,NVIDIA-Tesla T4,0,true:"},
    ),
}  # fmt: skip

ASCEND: Mapping[str, Described] = {
    "910b3": Described(mindcluster("910B3", "64G"), {NPU: 8}, (Seen("910B3", 8),)),
    "910b4": Described(mindcluster("910B4", "32G"), {NPU: 8}, (Seen("910B4", 8),)),
    "910a": Described(mindcluster("910A", "32G"), {NPU: 8}, (Seen("910A", 8),)),
    "910b1": Described(
        mindcluster("910B1", "64G"), {NPU: 8},
        (Seen(None, 8, "labels: {node.kubernetes.io/npu.chip.name: 910B1}"),),
    ),
    "910b3-says-32": Described(
        mindcluster("910B3", "32G"), {NPU: 8},
        (Seen("910B3", 8, "its labels say 32 GiB a device, class 910B3 says 64"),),
    ),
    "set-aside": Described(
        mindcluster("910B3", "64G"), {NPU: 8},
        (Seen("910B3", 5, "3 of 8 devices are unhealthy"),),
        annotations={f"{NPU}-Unhealthy": "Ascend910-2,Ascend910-5",
                     f"{NPU}-NetworkUnhealthy": "Ascend910-7"},
    ),
    "recovered": Described(  # out until a person takes the label away, whose value has no comma
        mindcluster("910B3", "64G", **{f"{NPU}-Recover": "2.3", f"{NPU}-NetworkRecover": "4"}),
        {NPU: 8}, (Seen("910B3", 5, "3 of 8 devices are unhealthy"),),
    ),
    "set-aside-twice": Described(  # the kubelet took it out, and MindCluster names it
        mindcluster("910B3", "64G"), {NPU: 8},
        (Seen("910B3", 7, "1 of 8 devices are unhealthy"),), sound={NPU: 7},
        annotations={f"{NPU}-Unhealthy": "Ascend910-2"},
    ),
    "static-slices": Described(
        mindcluster("910B3", "64G"), {f"{NPU}-10c.3cpu.16g": 16, NPU: 0},
        (Seen("910-16g", 16),),
    ),
    "dynamic-slices": Described(
        mindcluster("910B3", "64G"), {"huawei.com/npu-core": 160},
        (Seen("910B3", 0, f"it offers no {NPU} but huawei.com/npu-core"),),
    ),
    "310p": Described(
        {"accelerator": "huawei-Ascend310P", "node.kubernetes.io/npu.chip.name": "310P3",
         "servertype": "Ascend310P-8", "infer-card-type": "card-300i-duo"},
        {"huawei.com/Ascend310P": 8}, (Seen("310P3", 8),),
    ),
    "950": Described(
        mindcluster("Ascend950PR", "128G", accelerator="huawei-npu"), {"huawei.com/npu": 8},
        (Seen(None, 8, "resource: huawei.com/npu, vram_gib: 128"),),
    ),
    "hami-910b4": Described(
        {"ascend": "on"}, {"huawei.com/Ascend910B4": 32, "huawei.com/Ascend910B4-memory": 262144},
        (Seen("HAMi-910B4", 7, "1 of 8 devices are unhealthy"),),
        annotations={
            "hami.io/node-register-Ascend910B4": register("Ascend910B4", 32768, *[True] * 7, False),
            "hami.io/node-handshake-Ascend910B4": "Requesting_2026.08.01 10:00:00",
        },
    ),
    "hami-910b4-1": Described(  # 64 GiB, though its name begins like that of one with 32
        {"ascend": "on"},
        {"huawei.com/Ascend910B4-1": 32, "huawei.com/Ascend910B4-1-memory": 524288},
        (Seen(None, 8, "resource: huawei.com/Ascend910B4-1, vram_gib: 64"),),
        annotations={
            "hami.io/node-register-Ascend910B4-1": register("Ascend910B4-1", 65536, *[True] * 8)
        },
    ),
    "hami-310p": Described(
        {"ascend": "on", "accelerator": "huawei-Ascend310P"},
        {"huawei.com/Ascend310P": 28, "huawei.com/Ascend310P-memory": 86108},
        (Seen("310P3", 4, "each device is advertised 7 times"),),
        annotations={
            "hami.io/node-register-Ascend310P": register("Ascend310P", 21527, *[True] * 4, shares=7)
        },
    ),
}  # fmt: skip

CLOUDS: Mapping[str, Described] = {
    "gke": Described(
        {"cloud.google.com/gke-accelerator": "nvidia-tesla-a100",
         "cloud.google.com/gke-accelerator-count": "2",
         "topology.kubernetes.io/zone": "us-central1-a",
         "topology.kubernetes.io/region": "us-central1",
         "node.kubernetes.io/instance-type": "a2-highgpu-2g"},
        {GPU: 2}, (Seen("GKE-A100", 2),), zone="us-central1-a", taints=USUAL,
    ),
    "eks": Described(
        {"k8s.amazonaws.com/accelerator": "nvidia-tesla-t4", "topology.kubernetes.io/zone": "",
         "failure-domain.beta.kubernetes.io/zone": "eu-west-1b",
         "topology.k8s.aws/zone-id": "euw1-az2"},
        {GPU: 1}, (Seen(None, 1, "labels: {k8s.amazonaws.com/accelerator: nvidia-tesla-t4}"),),
        zone="eu-west-1b",
    ),
    "karpenter": Described(
        {"karpenter.k8s.aws/instance-gpu-name": "t4", "karpenter.k8s.aws/instance-gpu-count": "1",
         "karpenter.k8s.aws/instance-gpu-manufacturer": "nvidia",
         "karpenter.k8s.aws/instance-gpu-memory": "16384", "karpenter.sh/capacity-type": "spot",
         "karpenter.k8s.aws/instance-family": "g4dn", "karpenter.k8s.aws/instance-size": "xlarge"},
        {GPU: 1}, (Seen(None, 1, "it looks like T4: give that class labels: "
                                 "{karpenter.k8s.aws/instance-gpu-name: t4}"),),
    ),
    "ack": Described(
        {"aliyun.accelerator/nvidia_name": "Tesla-P4", "aliyun.accelerator/nvidia_count": "1",
         "aliyun.accelerator/nvidia_mem": "7611MiB"},
        {GPU: 1}, (Seen(None, 1, "labels: {aliyun.accelerator/nvidia_name: Tesla-P4}"),),
    ),
    "acs": Described(
        {"alibabacloud.com/gpu-model-series": "T4", "topology.kubernetes.io/zone": ""},
        {GPU: 1}, (Seen(None, 1, "labels: {alibabacloud.com/gpu-model-series: T4}"),), zone="none",
    ),
}  # fmt: skip

_AMD = {
    "beta.amd.com/gpu.vram.64G": "8", "beta.amd.com/gpu.device-id.74a1": "8",
    "beta.amd.com/gpu.family.AI": "8", "beta.amd.com/gpu.cu-count.304": "8",
}  # fmt: skip
STRANGERS: Mapping[str, Described] = {
    "l4": Described(
        gfd("NVIDIA-L4", 23034, 2), {GPU: 2},
        (Seen(None, 2, "resource: nvidia.com/gpu, vram_gib: 22.5 and "
                       "labels: {nvidia.com/gpu.product: NVIDIA-L4}"),),
    ),
    "amd": Described(
        _AMD, {"amd.com/gpu": 8}, (Seen(None, 8, "resource: amd.com/gpu, vram_gib: 64"),)
    ),
    "mlu": Described({}, {"cambricon.com/mlu": 8}, (Seen(None, 8, "resource: cambricon.com/mlu"),)),
    "mlu370": Described({}, {"cambricon.com/mlu370": 4}, (Seen(None, 4, "cambricon.com/mlu370"),)),
    "vmlu": Described(
        {}, {"cambricon.com/vmlu": 8, "cambricon.com/mlu.smlu.vmemory": 800,
             "cambricon.com/mlu.smlu.vcore": 800},
        (Seen(None, 8, "resource: cambricon.com/vmlu"),),
    ),
    "dcu": Described({}, {"hygon.com/dcunum": 4}, (Seen(None, 4, "resource: hygon.com/dcunum"),)),
    "metax": Described({}, {"metax-tech.com/gpu": 8}, (Seen(None, 8, "metax-tech.com/gpu"),)),
    "neuron": Described({}, {"aws.amazon.com/neuron": 1}, (Seen(None, 1, "amazon.com/neuron"),)),
    "mlu-cut-on-demand": Described(
        {}, {"cambricon.com/mlu370.smlu.vcore": 800, "cambricon.com/mlu370.smlu.vmemory": 800},
        (Seen(None, 0, "it offers cambricon.com/mlu370.smlu.vcore and"),),
    ),
    "nobody-heard-of": Described(
        {"example.net/gcu.model": "S60"}, {"example.net/gcu": 8, "rdma/hca": 4},
        (Seen(None, 8, "resource: example.net/gcu"),),
    ),
}  # fmt: skip
