"""Who else would write the number of replicas. One writer per target (law 6).

A HorizontalPodAutoscaler and a KEDA ScaledObject say so themselves. KEDA makes an HPA of its own;
the ScaledObject is named then, for that is what its owner knows.
"""

import msgspec

from controlplane.adapters.kubernetes.client import Api
from controlplane.adapters.kubernetes.refusals import MissingError
from controlplane.adapters.kubernetes.resources import AUTOSCALERS, SCALED_OBJECTS, Place


class Rival(msgspec.Struct, frozen=True):
    """Somebody else who owns a number, and the command that shows it."""

    by: str
    show: str


class _Target(msgspec.Struct, frozen=True):
    kind: str = "Deployment"
    name: str = ""


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    scale_target_ref: _Target = _Target()


class _Named(msgspec.Struct, frozen=True):
    name: str = ""


class _Scaler(msgspec.Struct, frozen=True):
    metadata: _Named = _Named()
    spec: _Spec = _Spec()


Rivals = dict[str, Rival]  # by "Kind/name" of the target


async def rivals(api: Api, namespace: str) -> Rivals:
    """Find the scalers of a namespace, by what they scale."""
    found: Rivals = {}
    for scaler in await api.list(Place(AUTOSCALERS, namespace), _Scaler):
        name = scaler.metadata.name
        found[_key(scaler)] = Rival(
            f"HorizontalPodAutoscaler {name}", f"kubectl get hpa {name} -n {namespace}"
        )
    try:
        objects = await api.list(Place(SCALED_OBJECTS, namespace), _Scaler)
    except MissingError:  # KEDA is not installed
        return found
    for scaler in objects:
        name = scaler.metadata.name
        found[_key(scaler)] = Rival(
            f"KEDA ScaledObject {name}", f"kubectl get scaledobject {name} -n {namespace}"
        )
    return found


def _key(scaler: _Scaler) -> str:
    target = scaler.spec.scale_target_ref
    return f"{target.kind}/{target.name}"
