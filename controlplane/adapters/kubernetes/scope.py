"""What every writer of this adapter shares: the API, the fence, the namespace, the catalogue."""

from collections.abc import Iterable

import msgspec

from controlplane.adapters.kubernetes.client import Api, Manifest
from controlplane.adapters.kubernetes.fencing import Fenced
from controlplane.adapters.kubernetes.pod_shape import Pod, RawPod, keep_pod
from controlplane.adapters.kubernetes.resources import PODS, Place, Resource
from controlplane.adapters.kubernetes.view import Sight
from controlplane.decide.scaling.variants import VariantTable, variants
from controlplane.domain.catalogue import Catalogue, workload
from controlplane.domain.quantities import ClassName, ModelName, ReplicaName
from controlplane.render.naming import deployment_name


class Scope:
    """Shared by reference; a catalogue is swapped whole."""

    def __init__(self, api: Api, writes: Fenced, sight: Sight, catalogue: Catalogue) -> None:
        """Work in the namespace that is looked at."""
        self.api = api
        self.writes = writes
        self.sight = sight
        self.namespace = sight.cache.namespace
        self.catalogue = catalogue
        self.table: VariantTable = variants(catalogue)

    def swap(self, catalogue: Catalogue) -> None:
        """Put another catalogue in force."""
        self.catalogue, self.table = catalogue, variants(catalogue)

    def place(self, resource: Resource, name: str | None = None, sub: str | None = None) -> Place:
        """Say where something of ours is."""
        return Place(resource, self.namespace, name, sub)

    def pod(self, name: ReplicaName) -> Pod | None:
        """Give a pod as it was seen last."""
        return self.sight.pod(name)

    def pods_of(self, model: ModelName, node_class: ClassName) -> list[Pod]:
        """Give a variant's pods."""
        return [p for p in self.ours() if p.model == model and p.node_class == node_class]

    def ours(self) -> Iterable[Pod]:
        """Give all pods that are a model's."""
        here = self.namespace
        return (p for p in self.sight.cache.pods.items.values() if p.model and p.namespace == here)

    def deployment(self, model: ModelName, node_class: ClassName) -> str:
        """Name a variant's Deployment; one that left the catalogue keeps the name it was given."""
        known = self.catalogue.models.get(model)
        if known is None or node_class not in known.variants:
            return workload(model, node_class)
        return deployment_name(model, known, node_class)

    def saw(self, written: Manifest) -> None:
        """Take in a pod as the API server has it after our own write: the watch comes later."""
        kept = keep_pod(msgspec.convert(written, RawPod, strict=False))
        if kept is None:
            return
        watch = self.sight.cache.pods
        key = (kept.namespace, kept.name)
        before = watch.items.get(key)
        if before is not None and before.uid == kept.uid and before.version < kept.version:
            watch.items[key] = kept
            watch.revision += 1

    async def write_pod(self, name: ReplicaName, change: Manifest) -> None:
        """Change a pod and see it changed."""
        self.saw(await self.writes.patch(self.place(PODS, name), change))
