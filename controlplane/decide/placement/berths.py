"""Who holds which devices and what room is left, as relocation sees a fleet.

Room is counted on the safe side: what others were promised or are pending for is not free.
"""

from collections.abc import Iterable, Mapping

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
    ) -> None:
        """Count the devices; models are matched when they are first asked about."""
        self.moves = moves  # may be replaced while the cycle orders more of them
        self._plan = plan
        self._catalogue = catalogue
        self._matches: dict[ModelName, tuple[Match, ...]] = {}
        self._nodes = {node.name: node for node in nodes if node.ready and node.schedulable}
        self._by_variant: dict[tuple[ModelName, ClassName], list[Replica]] = {}
        for replica in replicas:
            key = (replica.model, replica.node_class)
            self._by_variant.setdefault(key, []).append(replica)
        held = {key: self.devices(*key) or self._least(key[0]) for key in self._by_variant}
        self._held = held
        self._free = free_devices(nodes, replicas, held)

    def _least(self, model: ModelName) -> int:
        """Say what a replica holds at least that fits no more, or that the catalogue forgot."""
        known = self._catalogue.models.get(model)
        return min(known.tensor_parallel) if known is not None else 1

    def verdicts(self, model: ModelName) -> tuple[Match, ...]:
        """Give the model's verdicts on all classes, cheapest fitting first."""
        if model not in self._matches:
            known = self._catalogue.models.get(model)
            judged = match(model, known, self._catalogue) if known is not None else ()
            self._matches[model] = judged
        return self._matches[model]

    def verdict(self, model: ModelName, node_class: ClassName) -> Match | None:
        """Give the verdict on one class."""
        return next((v for v in self.verdicts(model) if v.node_class == node_class), None)

    def devices(self, model: ModelName, node_class: ClassName) -> int | None:
        """Give the devices of one replica of a variant; None when it does not fit."""
        verdict = self.verdict(model, node_class)
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
        return sum(n.devices for n in self._nodes.values() if n.node_class == node_class)

    def seated(self, model: ModelName, node_class: ClassName) -> list[Replica]:
        """Give a model's replicas that have their node, those in service first."""
        found = [
            replica
            for replica in self._by_variant.get((model, node_class), ())
            if replica.node is not None and replica.present
        ]
        return sorted(found, key=lambda replica: (replica.lane is not Lane.SERVING, replica.name))

    def held(self, replicas: Iterable[Replica]) -> dict[NodeName, int]:
        """Add up the devices that these replicas hold, by node."""
        held: dict[NodeName, int] = {}
        for replica in replicas:
            if replica.node in self._nodes:
                devices = self._held[replica.model, replica.node_class]
                held[replica.node] = held.get(replica.node, 0) + devices
        return held

    def coming_free(self, node_class: ClassName) -> dict[NodeName, int]:
        """Give the devices of a class that are free, or whose replicas are on their way out."""
        leaving = [
            replica
            for (_, name), replicas in self._by_variant.items()
            for replica in replicas
            if name == node_class
            and replica.phase is not Phase.FAILED
            and (replica.lane is Lane.DRAINING or replica.phase is Phase.TERMINATING)
        ]
        for model, (away, _) in self.moves.items():
            if away == node_class:
                seated = self.seated(model, away)
                leaving.extend(replica for replica in seated if replica.lane is Lane.SERVING)
        free = {
            name: self._free[name]  # below 0 where devices broke under their pods
            for name, node in self._nodes.items()
            if node.node_class == node_class
        }
        for name, devices in self.held(leaving).items():
            free[name] = free.get(name, 0) + devices
        return {name: devices for name, devices in free.items() if devices}

    def room(self, model: ModelName, node_class: ClassName) -> int:
        """Say how many more replicas of a model a class can take, after everybody's promises."""
        devices = self.devices(model, node_class)
        if devices is None:
            return 0
        fitting = sum(
            max(0, self._free[name]) // devices
            for name, node in self._nodes.items()
            if node.node_class == node_class
        )
        others = {name for name, _ in self._by_variant} | set(self._plan)
        promised = sum(self._promised(other, node_class) for other in others - {model})
        return max(0, fitting - -(-promised // devices))

    def _promised(self, model: ModelName, node_class: ClassName) -> int:
        """Count devices a model will take on a class beyond those it holds."""
        split = self.split(model)
        wanted = split.get(node_class, 0)
        away, to = self.moves.get(model, (None, None))
        if to == node_class and away is not None:
            wanted += split.get(away, 0)
        pods = [r for r in self._by_variant.get((model, node_class), ()) if r.present]
        missing = max(wanted, len(pods)) - sum(replica.node is not None for replica in pods)
        return missing * (self.devices(model, node_class) or self._least(model))
