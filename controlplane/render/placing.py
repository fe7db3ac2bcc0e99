"""On which nodes a variant's pods may stand: affinity, tolerations, spread over zones.

A class is recognised by labels whose values are patterns, and affinity knows no patterns. So a
value that is written out is taken as it is, and a pattern becomes the values seen on the nodes of
the class.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from controlplane.domain.catalogue import NodeClass
from controlplane.render.naming import Manifest

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
MOST_HINTS = 50  # nodes named as having the image; more would swell every pod
HINT_WEIGHT = 50

_PLAIN = re.compile(r"(?:[A-Za-z0-9_-]|\\\.)*")

# Keys under which vendors' guides taint their nodes; the resource's own is always tolerated, for
# that is what the API server's ExtendedResourceToleration would do.
USUAL_TAINTS: Mapping[str, tuple[str, ...]] = {
    "nvidia": ("nvidia.com/gpu",),
    "ascend": ("huawei.com/Ascend910", "huawei.com/npu"),
    "amd": ("amd.com/gpu",),
    "cambricon": ("cambricon.com/mlu",),
}


class NowhereError(ValueError):
    """A class's nodes cannot be named; the text is one sentence for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What was seen of a class's nodes."""

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of the class's labels
    hosts: tuple[str, ...] = ()
    taints: tuple[str, ...] = ()  # keys
    with_image: tuple[str, ...] = ()  # hosts that need not pull the variant's image


def node_affinity(name: str, node_class: NodeClass, ground: Ground) -> Manifest:
    """Require a node of the class; prefer one that has the image."""
    wanted = [_expression(name, key, node_class, ground) for key in sorted(node_class.labels)]
    if not wanted:
        if not ground.hosts:
            raise NowhereError(
                f"node_classes.{name}.labels is empty and no node of the class is known: "
                "say by which labels its nodes are recognised"
            )
        wanted = [_in(HOST, ground.hosts)]
    terms: Manifest = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": wanted}]
        }
    }
    if ground.with_image:
        terms["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {
                "weight": HINT_WEIGHT,
                "preference": {
                    "matchExpressions": [_in(HOST, sorted(ground.with_image)[:MOST_HINTS])]
                },
            }
        ]
    return {"nodeAffinity": terms}


def _expression(name: str, key: str, node_class: NodeClass, ground: Ground) -> Manifest:
    pattern = node_class.labels[key]
    if _PLAIN.fullmatch(pattern):
        return _in(key, (pattern.replace("\\.", "."),))
    seen = ground.values.get(key, ())
    if not seen:
        raise NowhereError(
            f"node_classes.{name}.labels.{key} is the pattern {pattern!r} and no node of the class "
            "is known: write the label's exact value, so that replicas can wait for such a node"
        )
    return _in(key, seen)


def _in(key: str, values: tuple[str, ...] | list[str]) -> Manifest:
    return {"key": key, "operator": "In", "values": sorted(set(values))}


def tolerations(node_class: NodeClass, ground: Ground) -> list[Manifest]:
    """Tolerate what keeps others off accelerators, and nothing that says a node is in trouble."""
    domain = node_class.resource.partition("/")[0] + "/"
    keys = {
        node_class.resource,
        *USUAL_TAINTS.get(node_class.vendor, ()),
        *node_class.taints,
        *(key for key in ground.taints if key.startswith(domain)),
    }
    return [{"key": key, "operator": "Exists"} for key in sorted(keys)]  # whatever the effect


def zone_spread(labels: Mapping[str, str], *, strict: bool) -> list[Manifest]:
    """Spread over zones: softly, so that a zone that is short leaves nothing Pending, or strictly.

    Nodes whose taints the pod does not tolerate do not count as places, else a zone of CPU nodes
    would be one with too few replicas for ever.
    """
    return [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule" if strict else "ScheduleAnyway",
            "nodeAffinityPolicy": "Honor",
            "nodeTaintsPolicy": "Honor",
            "labelSelector": {"matchLabels": dict(labels)},
        }
    ]
