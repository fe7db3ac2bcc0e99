"""Who else would write the number of replicas. One writer per target (law 6).

A HorizontalPodAutoscaler and a KEDA ScaledObject say so themselves. KEDA writes through an HPA that
it makes and owns: both are named, the ScaledObject first, for that is what people wrote and delete.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from controlplane.adapters.kubernetes.client import Api
from controlplane.adapters.kubernetes.refusals import MissingError
from controlplane.adapters.kubernetes.resources import AUTOSCALERS, SCALED_OBJECTS, Place

KEDAS = "ScaledObject"


class Rival(msgspec.Struct, frozen=True):
    """Somebody else who owns a number."""

    kind: Literal["hpa", "scaledobject"]  # as kubectl has it
    name: str
    namespace: str
    hpa: str = ""  # through which KEDA writes; none while it sleeps or is paused

    @property
    def by(self) -> str:
        """Name it."""
        if self.kind == "hpa":
            return f"HorizontalPodAutoscaler {self.name}"
        through = f" (through HorizontalPodAutoscaler {self.hpa})" if self.hpa else ""
        return f"KEDA ScaledObject {self.name}{through}"

    @property
    def show(self) -> str:
        """Give the command that shows it."""
        return f"kubectl get {self.kind} {self.name} -n {self.namespace}"


class _Target(msgspec.Struct, frozen=True):
    kind: str = "Deployment"
    name: str = ""


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    scale_target_ref: _Target = _Target()


class _Owner(msgspec.Struct, frozen=True):
    kind: str = ""
    name: str = ""


class _About(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    owner_references: tuple[_Owner, ...] = ()


class Scaler(msgspec.Struct, frozen=True):
    """What an HPA and a ScaledObject have in common."""

    metadata: _About = _About()
    spec: _Spec = _Spec()


Rivals = dict[str, Rival]  # by "Kind/name" of the target


async def rivals(api: Api, namespace: str) -> Rivals:
    """Find the scalers of a namespace, by what they scale."""
    hpas = await api.list(Place(AUTOSCALERS, namespace), Scaler)
    try:
        objects = await api.list(Place(SCALED_OBJECTS, namespace), Scaler)
    except MissingError:  # KEDA is not installed
        objects = []
    return by_target(hpas, objects, namespace)


def by_target(hpas: Sequence[Scaler], objects: Sequence[Scaler], namespace: str) -> Rivals:
    """Say who scales what; of an HPA and a ScaledObject on one target, the latter."""
    found: Rivals = {}
    for hpa in hpas:
        name = hpa.metadata.name
        of_keda = [each.name for each in hpa.metadata.owner_references if each.kind == KEDAS]
        found[_key(hpa)] = (
            Rival("scaledobject", of_keda[0], namespace, hpa=name)
            if of_keda
            else Rival("hpa", name, namespace)
        )
    for each in objects:
        name, there = each.metadata.name, found.get(_key(each))
        if there is None or (there.kind, there.name) != ("scaledobject", name):
            found[_key(each)] = Rival("scaledobject", name, namespace)
    return found


def _key(scaler: Scaler) -> str:
    target = scaler.spec.scale_target_ref
    return f"{target.kind}/{target.name}"
