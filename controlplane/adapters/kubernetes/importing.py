"""Taking a number over from a ScaledObject or an HPA, and giving it back.

What scaled it is noted on the Deployment, whole, before it is deleted, so giving it back is making
it again. The number of replicas stays what it is: a ScaledObject that would restore an older one is
told not to first.
"""

from typing import Any

import msgspec

from controlplane.adapters.kubernetes.client import Api, Manifest
from controlplane.adapters.kubernetes.refusals import MissingError
from controlplane.adapters.kubernetes.resources import (
    AUTOSCALERS,
    DEPLOYMENTS,
    SCALED_OBJECTS,
    Place,
    Resource,
)
from controlplane.domain import marks

KINDS: dict[str, Resource] = {
    "ScaledObject": SCALED_OBJECTS,
    "HorizontalPodAutoscaler": AUTOSCALERS,
}
_KEPT = ("name", "namespace", "labels", "annotations")


class NothingToImportError(Exception):
    """There is no such scaler; the text is one sentence."""


async def found(api: Api, namespace: str, name: str) -> Manifest:
    """Find the ScaledObject of this name, else the HPA; one that KEDA made is not people's."""
    for kind, resource in KINDS.items():
        try:
            live = await api.get(Place(resource, namespace, name), dict[str, Any])
        except MissingError:
            continue
        for owner in live["metadata"].get("ownerReferences", ()):
            if owner["kind"] in KINDS:
                raise NothingToImportError(
                    f"{kind} {namespace}/{name} belongs to {owner['kind']} {owner['name']}, which "
                    f"would make it again: controlplane import {namespace}/{owner['name']}"
                )
        return {"apiVersion": resource.api_version, "kind": kind, **plain(live)}
    raise NothingToImportError(
        f"{namespace}/{name} is neither a ScaledObject nor a HorizontalPodAutoscaler; "
        f"kubectl get scaledobjects,hpa -n {namespace} lists them"
    )


async def take_over(api: Api, manifest: Manifest) -> None:
    """Note it on its Deployment, then delete it; the number stays."""
    where = manifest["metadata"]["namespace"]
    name, kind = manifest["metadata"]["name"], manifest["kind"]
    target = manifest["spec"]["scaleTargetRef"]["name"]
    noted = {marks.IMPORTED_FROM: msgspec.json.encode(manifest).decode()}
    await api.patch(Place(DEPLOYMENTS, where, target), {"metadata": {"annotations": noted}})
    place = Place(KINDS[kind], where, name)
    if manifest["spec"].get("advanced", {}).get("restoreToOriginalReplicaCount"):
        change = {"spec": {"advanced": {"restoreToOriginalReplicaCount": False}}}
        await api.patch(place, change)
    await api.delete(place)


async def give_back(api: Api, namespace: str, deployment: str) -> Manifest:
    """Make again what scaled a Deployment before; give it."""
    place = Place(DEPLOYMENTS, namespace, deployment)
    try:
        live = await api.get(place, dict[str, Any])
    except MissingError as cause:
        raise NothingToImportError(f"there is no Deployment {namespace}/{deployment}") from cause
    noted = (live["metadata"].get("annotations") or {}).get(marks.IMPORTED_FROM)
    if noted is None:
        raise NothingToImportError(
            f"nothing was imported for Deployment {namespace}/{deployment}: it has no annotation "
            f"{marks.IMPORTED_FROM}"
        )
    manifest: Manifest = msgspec.json.decode(noted)
    await api.create(Place(KINDS[manifest["kind"]], namespace), manifest)
    await api.patch(place, {"metadata": {"annotations": {marks.IMPORTED_FROM: None}}})
    return manifest


def plain(live: Manifest) -> Manifest:
    """Leave out what the server wrote."""
    metadata = {key: live["metadata"][key] for key in _KEPT if key in live["metadata"]}
    notes = metadata.get("annotations", {})
    metadata["annotations"] = {k: v for k, v in notes.items() if "last-applied" not in k}
    return {"metadata": metadata, "spec": live["spec"]}
