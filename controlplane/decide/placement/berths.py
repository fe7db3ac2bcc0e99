"""Who holds which devices and what room is left, as relocation sees a fleet.

Room is counted on the safe side: what others were promised or are pending for is not free.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from controlplane.decide.placement.matching import Match, match
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Plan
from controlplane.domain.fleet import Node, free_devices
from controlplane.domain.quantities import ClassName, ModelName, NodeName
from controlplane.domain.replicas import Lane, Phase, Replica

Moves = Mapping[ModelName, tuple[ClassName, ClassName]]


class Berths:
    """A fleet at one moment, with everything that is promised."""

    def __init__(
        self,
        nodes: tuple[Node, ...],
        replicas: tuple[Replica, ...],
        plan: Plan,
        catalogue: Catalogue,
        moves: Moves,
        others: Mapping[NodeName, int] = MappingProxyType({}),
    ) -> None:
        """Index the fleet; what needs reckoning is reckoned when first asked for, and kept."""
        self._plan = plan
        self._catalogue = catalogue
        self._moves = moves
        self._matches: dict[ModelName, dict[ClassName, Match]] = {}
        self._promises: dict[ClassName, dict[ModelName, int]] = {}
        self._fits: dict[tuple[ClassName, int], int] = {}
        self._nodes: dict[ClassName, dict[NodeName, Node]] = {}
        for node in nodes:
            if node.ready and node.schedulable:
                self._nodes.setdefault(node.node_class, {})[node.name] = node
        self._pods: dict[ClassName, dict[ModelName, list[Replica]]] = {}
        for replica in replicas:
            of_class = self._pods.setdefault(replica.node_class, {})
            of_class.setdefault(replica.model, []).append(replica)
        self._held = {
            (model, name): self.devices(model, name) or self._least(model)
            for name, models in self._pods.items()
            for model in models
        }
        self._free = free_devices(nodes, replicas, self._held, others)

    def put(self, moves: Moves) -> None:
        """Let other moves be in force: what they promise changes."""
        if moves != self._moves:
            self._moves = moves
            self._promises.clear()

    def _least(self, model: ModelName) -> int:
        """Say what a replica holds at least that fits no more, or that the catalogue forgot."""
        known = self._catalogue.models.get(model)
        return min(known.tensor_parallel) if known is not None else 1

    def verdicts(self, model: ModelName) -> Mapping[ClassName, Match]:
        """Give the model's verdicts on all classes, cheapest fitting first."""
        if model not in self._matches:
            known = self._catalogue.models.get(model)
            judged = match(model, known, self._catalogue) if known is not None else ()
            self._matches[model] = {verdict.node_class: verdict for verdict in judged}
        return self._matches[model]

    def devices(self, model: ModelName, node_class: ClassName) -> int | None:
        """Give the devices of one replica of a variant; None when it does not fit."""
        verdict = self.verdicts(model).get(node_class)
        return verdict.devices if verdict is not None else None

    def target(self, model: ModelName) -> int:
        """Give the replicas a model wants in service."""
        standing = self._plan.get(model)
        return standing.replicas if standing is not None else 0

    def split(self, model: ModelName) -> Mapping[ClassName, int]:
        """Give how its target spreads over classes."""
        standing = self._plan.get(model)
        return standing.split if standing is not None else {}

    def there(self, node_class: ClassName) -> int:
        """Count the devices of a class, whoever holds them."""
        return sum(node.devices for node in self._nodes.get(node_class, {}).values())

    def models_on(self, node_class: ClassName) -> list[ModelName]:
        """Name the models that have pods on a class."""
        return sorted(self._pods.get(node_class, {}))

    def seated(self, model: ModelName, node_class: ClassName) -> list[Replica]:
        """Give a model's replicas that have their node, those in service first."""
        found = [r for r in self._of(model, node_class) if r.node is not None and r.present]
        return sorted(found, key=lambda replica: (replica.lane is not Lane.SERVING, replica.name))

    def _of(self, model: ModelName, node_class: ClassName) -> list[Replica]:
        return self._pods.get(node_class, {}).get(model, [])

    def held(self, replicas: Iterable[Replica]) -> dict[NodeName, int]:
        """Add up the devices that these replicas hold on nodes that answer."""
        held: dict[NodeName, int] = {}
        for replica in replicas:
            if replica.node in self._nodes.get(replica.node_class, {}):
                devices = self._held[replica.model, replica.node_class]
                held[replica.node] = held.get(replica.node, 0) + devices
        return held

    def coming_free(self, node_class: ClassName) -> dict[NodeName, int]:
        """Give the devices of a class that are free, or whose replicas are on their way out."""
        leaving = [
            replica
            for model, replicas in self._pods.get(node_class, {}).items()
            for replica in replicas
            if _leaving(replica)
            or (replica.serving and self._moves.get(model, ())[:1] == (node_class,))
        ]
        free = {name: self._free[name] for name in self._nodes.get(node_class, {})}
        for name, devices in self.held(leaving).items():
            free[name] += devices
        return {name: devices for name, devices in free.items() if devices}  # below 0: broken ones

    def room(self, model: ModelName, node_class: ClassName) -> int:
        """Say how many more replicas of a model a class can take, after everybody's promises."""
        devices = self.devices(model, node_class)
        if devices is None:
            return 0
        fitting = self._fit(node_class, devices)
        if not fitting:
            return 0
        promises = self._promised(node_class)
        others = sum(promises.values()) - promises.get(model, 0)
        return max(0, fitting - -(-others // devices))

    def _fit(self, node_class: ClassName, devices: int) -> int:
        """Say how many replicas of so many devices the free devices hold now."""
        if (node_class, devices) not in self._fits:
            free = (self._free[name] for name in self._nodes.get(node_class, {}))
            self._fits[node_class, devices] = sum(max(0, left) // devices for left in free)
        return self._fits[node_class, devices]

    def _promised(self, node_class: ClassName) -> dict[ModelName, int]:
        """Give the devices that models will take on a class beyond those they hold."""
        if node_class not in self._promises:
            concerned = set(self._pods.get(node_class, {})) | set(self._moves)
            concerned.update(m for m, held in self._plan.items() if node_class in held.split)
            self._promises[node_class] = {
                model: lacking
                for model in sorted(concerned)
                if (lacking := self._lacking(model, node_class))
            }
        return self._promises[node_class]

    def _lacking(self, model: ModelName, node_class: ClassName) -> int:
        split = self.split(model)
        wanted = split.get(node_class, 0)
        away, to = self._moves.get(model, (None, None))
        if to == node_class and away is not None:
            wanted += split.get(away, 0)
        pods = [replica for replica in self._of(model, node_class) if replica.present]
        missing = max(wanted, len(pods)) - sum(replica.node is not None for replica in pods)
        return missing * (self.devices(model, node_class) or self._least(model))


def _leaving(replica: Replica) -> bool:
    return replica.phase is not Phase.FAILED and (
        replica.lane is Lane.DRAINING or replica.phase is Phase.TERMINATING
    )
