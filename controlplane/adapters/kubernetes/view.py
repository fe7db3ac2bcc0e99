"""The fleet as it is seen: the cache's nodes and pods in the fleet's words, once for all loops.

What did not change since the last look is not built again: with ten thousand pods that is the
difference between a tenth of a second and none.
"""

import asyncio
from collections.abc import Iterable, Mapping

from controlplane.adapters.kubernetes.cache import Cache
from controlplane.adapters.kubernetes.inventory import Inventory
from controlplane.adapters.kubernetes.node_shape import Machine
from controlplane.adapters.kubernetes.nodes import recognises
from controlplane.adapters.kubernetes.pod_shape import Pod
from controlplane.adapters.kubernetes.pods import Spot, lane_of, replica
from controlplane.adapters.kubernetes.spots import Spots
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.quantities import ClassName, Instant, ModelName, NodeName, ReplicaName
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import Absence, NoData
from controlplane.ports import EngineAt, Engines, EngineState, UnavailableError
from controlplane.render.placing import HOST, Ground

AT_ONCE = 500  # pods between which others get their turn

_Built = tuple[Pod, Spot, EngineState | None, Replica]


class Sight:
    """Looks at a cache, and remembers what it built."""

    def __init__(self, cache: Cache) -> None:
        """Look at this."""
        self.cache = cache
        self.inventory = Inventory(cache.nodes)
        self._built: dict[tuple[str, str], _Built] = {}
        self._engines: dict[tuple[str, str], tuple[Pod, EngineAt]] = {}
        self._asked_for: Catalogue | None = None

    async def view(self, catalogue: Catalogue, engines: Engines, now: Instant) -> FleetView:
        """Give what is seen; `UnavailableError` when the pods are not known."""
        cache = self.cache
        if not cache.trusted(cache.pods):
            raise UnavailableError(f"the pods are not known: {cache.why_not(cache.pods)}")
        age_s = cache.age_s if cache.trusted(cache.nodes) else cache.age_of(cache.pods)
        nodes = await self._inventory(catalogue)
        replicas, others = await self._pods(catalogue, engines, tuple(cache.pods.items.values()))
        return FleetView(
            at=now - age_s,
            nodes=nodes,
            replicas=replicas,
            unknown=() if isinstance(nodes, NoData) else self.inventory.unknown,
            others=others,
        )

    async def engines_at(self, catalogue: Catalogue) -> tuple[EngineAt, ...]:
        """Give the engines that can be asked: containers that run and have an address."""
        spots = Spots(self.cache, self.inventory, catalogue)
        known = self._engines if catalogue is self._asked_for else {}
        found: dict[tuple[str, str], tuple[Pod, EngineAt]] = {}
        for count, (key, pod) in enumerate(tuple(self.cache.pods.items.items()), 1):
            if count % AT_ONCE == 0:
                await asyncio.sleep(0)
            if not pod.started or not pod.ip or pod.terminating or not self._ours(pod):
                continue
            before = known.get(key)
            if before is not None and before[0] is pod:
                found[key] = before
            elif pod.model in catalogue.models:
                found[key] = (pod, _engine(pod, spots.of(pod).node_class, catalogue))
        self._engines, self._asked_for = found, catalogue
        return tuple(engine for _, engine in found.values())

    def ground(self, catalogue: Catalogue, node_class: ClassName, image: str = "") -> Ground:
        """Give what was seen of a class's nodes, for where its pods may stand."""
        size = catalogue.node_classes[node_class]
        for _ in self.inventory.refresh(catalogue):
            pass
        machines = self.inventory.machines(node_class)
        matching = [machine for machine in machines if recognises(size, machine.labels)]
        return Ground(
            values={key: _sorted(m.labels[key] for m in matching) for key in size.labels},
            hosts=_sorted(_host(machine) for machine in machines),
            taints=_sorted(taint.key for machine in machines for taint in machine.taints),
            with_image=_sorted(_host(m) for m in machines if image and _has(m, image)),
        )

    def pod(self, name: ReplicaName) -> Pod | None:
        """Give one of our pods as it was seen last."""
        return self.cache.pods.items.get((self.cache.namespace, name))

    async def _inventory(self, catalogue: Catalogue) -> tuple[Node, ...] | NoData:
        """Give the nodes, or why they are not known (law 1)."""
        watch = self.cache.nodes
        if not self.cache.trusted(watch):
            return NoData(_absence(watch.synced, watch.forbidden), self.cache.why_not(watch))
        for _ in self.inventory.refresh(catalogue):
            await asyncio.sleep(0)
        return self.inventory.nodes

    async def _pods(
        self, catalogue: Catalogue, engines: Engines, pods: Iterable[Pod]
    ) -> tuple[tuple[Replica, ...], Mapping[NodeName, int]]:
        """Give our replicas, and the devices that pods of others hold."""
        spots = Spots(self.cache, self.inventory, catalogue)
        built: dict[tuple[str, str], _Built] = {}
        slots: dict[NodeName, list[int]] = {}
        for count, pod in enumerate(pods, 1):
            if count % AT_ONCE == 0:
                await asyncio.sleep(0)
            if self._ours(pod):
                spot = spots.of(pod)
                state = engines.state(ReplicaName(pod.name))
                built[pod.key] = self._build(pod, spot, state)
            elif pod.holds:
                self._count(pod, slots)
        self._built = built
        others = {name: min(held, room) for name, (held, room) in slots.items()}
        return tuple(of[3] for of in built.values()), others

    def _build(self, pod: Pod, spot: Spot, state: EngineState | None) -> _Built:
        before = self._built.get(pod.key)
        if before is not None and before[0] is pod and before[2] is state and before[1] == spot:
            return before
        return (pod, spot, state, replica(pod, spot, state))

    def _count(self, pod: Pod, slots: dict[NodeName, list[int]]) -> None:
        """Add what a pod of others holds; of a device that is advertised often, at most all."""
        for part in self.inventory.parts(pod.node):
            held = pod.devices.get(part.resource, 0)
            if held:
                room = part.node.devices if part.shared > 1 else held
                of_node = slots.setdefault(part.node.name, [0, 0])
                of_node[0] += held
                of_node[1] = room if part.shared > 1 else of_node[1] + room

    def _ours(self, pod: Pod) -> bool:
        return pod.model != "" and pod.namespace == self.cache.namespace


def _engine(pod: Pod, node_class: ClassName, catalogue: Catalogue) -> EngineAt:
    model = ModelName(pod.model)
    return EngineAt(
        replica=ReplicaName(pod.name),
        model=model,
        node_class=node_class,
        host=pod.ip,
        serving=catalogue.models[model].serving,
        serves=lane_of(pod) is Lane.SERVING,
        started=pod.started,
    )


def _absence(synced: bool, forbidden: bool) -> Absence:
    if forbidden:
        return Absence.FORBIDDEN
    return Absence.UNREACHABLE if synced else Absence.NOT_YET


def _host(machine: Machine) -> str:
    return machine.labels.get(HOST, machine.name)


def _has(machine: Machine, image: str) -> bool:
    """Say whether a node has an image; it names the registry, which a catalogue may leave out."""
    return any(name == image or name.endswith(f"/{image}") for name in machine.images)


def _sorted(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(words)))
