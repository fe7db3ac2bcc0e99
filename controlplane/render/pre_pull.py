"""Images on the nodes before they are needed: a 15 GB pull must never meet a burst.

One DaemonSet a class holds the images of all its models. Its containers do nothing but be there: an
image in use is not collected when a disk runs full. An image volume needs nothing inside the image,
not even a shell, but Kubernetes 1.35 or newer on the nodes.
"""

from collections.abc import Iterator, Sequence

from controlplane.domain import marks
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ClassName
from controlplane.render.naming import Manifest, metadata, pre_pull_name
from controlplane.render.placing import Ground, node_affinity, tolerations

PAUSE = "registry.k8s.io/pause:3.10.1"  # what every kubelet has already


def pre_pull(
    catalogue: Catalogue, class_name: ClassName, namespace: str, ground: Ground
) -> Manifest | None:
    """Render a class's DaemonSet; None where nothing is to be brought."""
    started = sorted(set(_images(catalogue, class_name, "daemon-set")))
    mounted = sorted(set(_images(catalogue, class_name, "image-volume")) - set(started))
    if not started and not mounted:
        return None
    node_class = catalogue.node_classes[class_name]
    labels = {marks.PRE_PULL: class_name}
    spec: Manifest = {
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "affinity": node_affinity(class_name, node_class, ground),
        "tolerations": tolerations(node_class, ground),
        "containers": [_asleep(number, image) for number, image in enumerate(started)],
    }
    if mounted:
        spec["containers"].append(_pause(mounted))
        spec["volumes"] = [
            {
                "name": f"image-{number}",
                "image": {"reference": image, "pullPolicy": "IfNotPresent"},
            }
            for number, image in enumerate(mounted)
        ]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata(pre_pull_name(class_name), namespace, labels),
        "spec": {
            "selector": {"matchLabels": labels},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "20%"}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def _images(catalogue: Catalogue, class_name: ClassName, how: str) -> Iterator[str]:
    for model in catalogue.models.values():
        if class_name in model.variants and model.serving.pre_pull == how:
            yield model.variants[class_name].image


def _asleep(number: int, image: str) -> Manifest:
    return {
        "name": f"image-{number}",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", "infinity"],
        "resources": _next_to_nothing(),
    }


def _pause(images: Sequence[str]) -> Manifest:
    return {
        "name": "pause",
        "image": PAUSE,
        "imagePullPolicy": "IfNotPresent",
        "resources": _next_to_nothing(),
        "volumeMounts": [
            {"name": f"image-{number}", "mountPath": f"/images/{number}", "readOnly": True}
            for number in range(len(images))
        ],
    }


def _next_to_nothing() -> Manifest:
    return {"requests": {"cpu": "1m", "memory": "8Mi"}, "limits": {"memory": "32Mi"}}
