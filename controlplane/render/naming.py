"""What objects are called and labelled in a cluster, so that every part finds them again."""

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from controlplane.domain import marks
from controlplane.domain.catalogue import Model, workload
from controlplane.domain.quantities import ClassName, ModelName

Manifest: TypeAlias = dict[str, Any]

_NO_LABEL = re.compile(r"[^a-z0-9-]+")
MOST_LETTERS = 63


def dns_label(written: str) -> str:
    """Make a name that Services may have: small letters, digits, dashes, a letter first."""
    name = _NO_LABEL.sub("-", written.lower()).strip("-")
    return (name if name[:1].isalpha() else f"m-{name}")[:MOST_LETTERS].rstrip("-")


def deployment_name(model_name: ModelName, model: Model, node_class: ClassName) -> str:
    """Name a variant's Deployment: the adopted one, or the one that is made."""
    return model.variants[node_class].deployment or workload(model_name, node_class)


def pre_pull_name(node_class: ClassName) -> str:
    """Name the DaemonSet that brings a class's images to its nodes."""
    return dns_label(f"pre-pull-{node_class}")


def selector(model: ModelName, node_class: ClassName) -> dict[str, str]:
    """Select a variant's pods, in whatever lane; never to be changed once a Deployment stands."""
    return {marks.MODEL: model, marks.CLASS: node_class}


def metadata(name: str, namespace: str, labels: Mapping[str, str]) -> Manifest:
    """Head an object that is ours."""
    return {
        "name": name,
        "namespace": namespace,
        "labels": {"app.kubernetes.io/managed-by": marks.MANAGER, **labels},
        "annotations": {marks.MANAGED_BY: marks.MANAGER},
    }
