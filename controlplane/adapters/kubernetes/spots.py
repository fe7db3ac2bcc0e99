"""Where pods stand, at one moment: found once for all pods of a class on the same node."""

from controlplane.adapters.kubernetes.cache import Cache
from controlplane.adapters.kubernetes.inventory import Inventory
from controlplane.adapters.kubernetes.pod_shape import Pod
from controlplane.adapters.kubernetes.pods import Spot
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ClassName, ModelName, NodeName


class Spots:
    """Spots as nodes are now; for one look, and then to be forgotten."""

    def __init__(self, cache: Cache, inventory: Inventory, catalogue: Catalogue) -> None:
        """Ask once whether the nodes are known."""
        self._machines = cache.nodes.items
        self._inventory = inventory
        self._catalogue = catalogue
        self._known = cache.trusted(cache.nodes)
        # A node that is not in the list is gone only if the list is of this very moment.
        self._whole = self._known and cache.nodes.age_s == 0
        self._spots: dict[tuple[str, str, str], Spot] = {}

    def of(self, pod: Pod) -> Spot:
        """Say where a pod stands; while nodes are unknown, nothing is said against its own."""
        key = (pod.node, pod.node_class, pod.model)
        spot = self._spots.get(key)
        if spot is None:
            spot = self._spots[key] = self._find(pod)
        return spot

    def _find(self, pod: Pod) -> Spot:
        node_class = ClassName(pod.node_class) or self._only_class(pod)
        size = self._catalogue.node_classes.get(node_class)
        resource = size.resource if size else ""
        if not pod.node:
            return Spot(node_class=node_class, resource=resource)
        machine = self._machines.get(("", pod.node)) if self._known else None
        parts = self._inventory.parts(pod.node) if self._known else ()
        part = next((p for p in parts if p.node.node_class == node_class), None)
        part = part or (parts[0] if parts else None)
        gone = self._whole and machine is None
        return Spot(
            node_class=node_class or (part.node.node_class if part else node_class),
            node=part.node.name if part else NodeName(pod.node),
            zone=part.node.zone if part else None,
            resource=resource or (part.resource if part else ""),
            answers=not gone and (machine is None or machine.ready),
            gone=gone,
        )

    def _only_class(self, pod: Pod) -> ClassName:
        """Give the class of a pod that does not say it, where its model has but one."""
        model = self._catalogue.models.get(ModelName(pod.model))
        variants = tuple(model.variants) if model else ()
        return variants[0] if len(variants) == 1 else ClassName("")
