"""What a node says about its accelerators: how many there really are, of what, how large.

A device plugin's count is not always a count of devices: time-slicing and HAMi advertise each card
several times over, without keeping one share's memory from another. Such a card counts once here.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from controlplane.adapters.kubernetes.node_shape import Machine

ACCELERATOR = re.compile(
    r"nvidia\.com/(gpu|gpu\.shared|mig-.+)"
    r"|huawei\.com/(npu|Ascend(?!.*-memory$).+)"
    r"|amd\.com/gpu|cambricon\.com/(mlu|vmlu|mlu\d+)|hygon\.com/dcunum|metax-tech\.com/s?gpu"
    r"|aws\.amazon\.com/neuron|google\.com/tpu|habana\.ai/gaudi|gpu\.intel\.com/(i915|xe)"
)
"""Resources that count accelerators; their memory and cores are counted under further names."""

_LIKE_ONE = re.compile(
    r"[^/]+/([a-z0-9]*[.-])?[vsx]?([dgnptvx]pu|[dg]cu|mlu|accelerator)([.-](count|num|number|shared))?"
)
"""What a maker nobody has told us of may call its cards, where nothing better known is offered."""

_SHARES = re.compile(r"huawei\.com/npu-core|cambricon\.com/mlu\d*\.smlu\.v(core|memory)")
"""Parts of cards that are cut when they are asked for: how many cards they are of is not said."""

PRODUCTS = (
    "node.kubernetes.io/npu.chip.name",
    "cloud.google.com/gke-accelerator",
    "k8s.amazonaws.com/accelerator",
    "aliyun.accelerator/nvidia_name",
    "alibabacloud.com/gpu-model-series",
    "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.k8s.aws/instance-accelerator-name",
    "accelerator",
)
"""Labels that name a card, the surest first; NVIDIA's own stand before them."""

_TELLING = re.compile(
    r"(beta\.)?amd\.com/|nvidia\.com/|huawei\.com/|mind-cluster/|cambricon\.com/|hygon\.com/"
    r"|metax-tech\.com/|accelerator(-type)?$|servertype$|infer-card-type$"
    r"|node\.kubernetes\.io/(npu|instance-type)|cloud\.google\.com/gke-accelerator"
    r"|k8s\.amazonaws\.com/accelerator|aliyun\.accelerator/|alibabacloud\.com/gpu"
    r"|karpenter\.k8s\.aws/instance-(gpu|accelerator)"
)
_NOISE = re.compile(r".*timestamp")
_MOST_LABELS = 40
_LISTED = re.compile(r"[^,.;\s]+")
_CHIP_MEMORY = re.compile(r"(\d+)\s*Gi?B?", re.IGNORECASE)
_AMD_MEMORY = re.compile(r"(?:beta\.)?amd\.com/gpu\.vram\.(\d+)G")
_SLICE_MEMORY = re.compile(r".*\.(\d+)g(?:b|\..*)?")  # mig-3g.20gb, Ascend910-10c.3cpu.16g.ndvpp
_HAMI = {"nvidia.com/gpu": "nvidia", "cambricon.com/vmlu": "mlu", "hygon.com/dcunum": "dcu"}


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of device on one node."""

    resource: str
    devices: int  # healthy and allocatable, each card once
    total: int  # with the unhealthy ones
    shared: int = 1  # how many times the scheduler is told of each
    product: str = ""
    memory_gib: float | None = None  # of one device


class Registered(msgspec.Struct, frozen=True):
    """A card in HAMi's register."""

    type: str = ""
    devmem: float = 0  # MiB
    health: bool = True


def offers(machine: Machine, wanted: Iterable[str]) -> tuple[Offer, ...]:
    """Give the accelerators of a node, whole cards before slices; what has none is left out."""
    known = {*machine.capacity, *machine.allocatable}
    names = [name for name in known if name in wanted or ACCELERATOR.fullmatch(name)]
    names = names or [name for name in known if _LIKE_ONE.fullmatch(name)]
    names.sort(key=lambda name: ("/mig-" in name, name))
    found = [_offer(machine, name) for name in names]
    return tuple(o for o in found if o.total or len(found) == 1)


def shares(machine: Machine) -> list[str]:
    """Name the resources of a node that are parts of cards nobody counts."""
    return sorted(name for name, count in machine.capacity.items() if count and _SHARES.match(name))


def product(machine: Machine) -> str:
    """Name the card by whatever label does."""
    keys = ("nvidia.com/gpu.product", *PRODUCTS)
    return next((machine.labels[key] for key in keys if machine.labels.get(key)), "")


def naming_label(machine: Machine) -> tuple[str, str] | None:
    """Give the label a class could recognise the node by."""
    keys = ("nvidia.com/gpu.product", *PRODUCTS, "node.kubernetes.io/instance-type")
    return next(((key, machine.labels[key]) for key in keys if machine.labels.get(key)), None)


def telling_labels(machine: Machine) -> Mapping[str, str]:
    """Give the labels that tell about accelerators: makers we know, and who counts any here."""
    makers = {_maker(name) for name in machine.capacity if _LIKE_ONE.fullmatch(name)}
    told = [
        key
        for key in sorted(machine.labels)
        if (_TELLING.match(key) or _maker(key) in makers) and not _NOISE.match(key)
    ]
    return {key: machine.labels[key] for key in told[:_MOST_LABELS]}


def _maker(key: str) -> str:
    return key.partition("/")[0]


def _offer(machine: Machine, resource: str) -> Offer:
    capacity, allocatable = machine.capacity.get(resource, 0), machine.allocatable.get(resource, 0)
    prefix = "nvidia.com/gpu" if resource == "nvidia.com/gpu.shared" else resource
    cards = _register(machine, resource)
    if cards:
        sound = [card for card in cards if card.health]
        total, devices = len(cards), len(sound) if allocatable else 0
        times = max(1, max(capacity, allocatable) // total)
    else:
        times = _times(machine, prefix)
        total, devices = max(capacity, allocatable) // times, allocatable // times
    devices = max(0, min(devices, total - len(_unhealthy(machine, resource))))
    named = machine.labels.get(f"{prefix}.product") or (cards[0].type if cards else "")
    return Offer(
        resource=resource,
        devices=devices,
        total=total,
        shared=times,
        product=named or product(machine),
        memory_gib=_memory(machine, prefix, cards),
    )


def _times(machine: Machine, prefix: str) -> int:
    """Say how often each device is advertised; GFD's figure is per device, whatever it is called.

    It writes 0 where sharing is off.
    """
    return max(1, _whole(machine.labels.get(f"{prefix}.replicas", "")) or 1)


def _unhealthy(machine: Machine, resource: str) -> set[str]:
    """List the chips MindCluster sets aside.

    Recovered ones stay out until a person takes the label away; on newer chips that label is
    spelt in capitals.
    """
    told = {**machine.annotations, **machine.labels}
    names = {resource, resource.replace("/npu", "/NPU")}
    kinds = ("Unhealthy", "NetworkUnhealthy", "Recover", "NetworkRecover", "Recovering")
    lists = [told.get(f"{name}-{kind}", "") for name in names for kind in kinds]
    # An id stands as `Ascend910-3` in annotations and as `3` in labels.
    return {chip.rpartition("-")[2] for text in lists for chip in _LISTED.findall(text)}


def _register(machine: Machine, resource: str) -> list[Registered]:
    """Read HAMi's register, in today's form or in the one before."""
    word = _HAMI.get(resource, resource.rpartition("/")[2])
    for key in (f"hami.io/node-{word}-register", f"hami.io/node-register-{word}"):
        text = machine.annotations.get(key, "")
        if not text:
            continue
        try:
            return msgspec.json.decode(text, type=list[Registered])
        except msgspec.MsgspecError:
            return [_old_form(one.split(",")) for one in text.split(":") if "," in one]
    return []


def _old_form(fields: list[str]) -> Registered:
    """Read `id,count,memory,cores,type,numa,health`."""
    at: Mapping[int, Any] = dict(enumerate(fields))
    health = str(fields[-1]).strip().lower() != "false"
    return Registered(type=at.get(4, ""), devmem=_whole(at.get(2, "")), health=health)


def _memory(machine: Machine, prefix: str, cards: list[Registered]) -> float | None:
    """Give the memory of one device in GiB, by the first source that knows."""
    labels = machine.labels
    mebibytes = _whole(labels.get(f"{prefix}.memory", "")) or (cards[0].devmem if cards else 0)
    if mebibytes:
        return float(mebibytes) / 1024
    of_slice = _SLICE_MEMORY.fullmatch(prefix)
    if of_slice is not None:
        return float(of_slice[1])
    chip = _CHIP_MEMORY.fullmatch(labels.get("mind-cluster/npu-chip-memory", ""))
    if chip is not None and prefix.startswith("huawei.com/"):
        return float(chip[1])
    amd = next((found for key in labels if (found := _AMD_MEMORY.fullmatch(key))), None)
    if amd is not None and prefix.startswith("amd.com/"):
        return float(amd[1])
    mebibytes = _whole(labels.get("karpenter.k8s.aws/instance-gpu-memory", ""))
    return mebibytes / 1024 if mebibytes else None


def _whole(written: str) -> int:
    return int(written) if written.strip().isdecimal() else 0
