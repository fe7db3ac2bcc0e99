"""Who gets the devices that are left, when several models want them.

Those breaking their promise first, then by the catalogue's importance, then by waiting time per
device. The loser's trail says to whom it lost (behaviour T9).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from controlplane.decide.scaling.allocate import shortages
from controlplane.decide.scaling.decision import Wished
from controlplane.decide.scaling.inputs import Room, ScaleInput
from controlplane.domain.fleet import Node
from controlplane.domain.quantities import ClassName, ModelName, NodeName
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.domain.samples import NoData


class Claim(NamedTuple):
    """A model's input and what it wishes for."""

    seen: ScaleInput
    wished: Wished

    @property
    def need(self) -> int:
        """Replicas wanted beyond those that have their devices."""
        holding = sum(held.scheduled for held in self.seen.held.values())
        wanted = max(self.wished.target.replicas, self.seen.policy.scaling.min)
        return max(0, min(wanted, self.seen.policy.scaling.max) - holding)

    @property
    def rank(self) -> tuple[bool, int, float, str]:
        """Sort key: the claim that is served first has the smallest."""
        since = self.seen.memory.waiting_since
        waited = 0.0 if since is None else self.seen.at - since
        devices = min((facts.devices for facts in self.seen.variants), default=1)
        broken = self.wished.figures.broken
        return (not broken, self.seen.importance, -waited / devices, self.seen.model)


class Free:
    """Free devices by node, taken from as they are given away."""

    def __init__(self, nodes: Sequence[Node], free: Mapping[NodeName, int]) -> None:
        """Index the nodes by class."""
        self._fitting: dict[tuple[ClassName, int], int] = {}  # counted since the last was taken
        self._by_class: dict[ClassName, dict[NodeName, int]] = {}
        for node in nodes:
            if free.get(node.name, 0) > 0:
                self._by_class.setdefault(node.node_class, {})[node.name] = free[node.name]

    def fitting(self, node_class: ClassName, devices: int) -> int:
        """Say how many replicas of so many devices still fit; a replica sits on one node."""
        fitting = self._fitting.get((node_class, devices))
        if fitting is None:
            nodes = self._by_class.get(node_class, {})
            fitting = sum([left // devices for left in nodes.values()])
            self._fitting[node_class, devices] = fitting
        return fitting

    def take(self, node_class: ClassName, devices: int, replicas: int) -> int:
        """Take devices for up to so many replicas, fullest node first; say how many fitted."""
        taken = 0
        self._fitting.clear()
        nodes = self._by_class.get(node_class, {})
        for name in sorted(nodes, key=lambda name: (nodes[name], name)):
            while taken < replicas and nodes[name] >= devices:
                nodes[name] -= devices
                taken += 1
        return taken


def rooms(
    claims: Sequence[Claim], nodes: tuple[Node, ...] | NoData, free: Mapping[NodeName, int]
) -> dict[ModelName, Room]:
    """Give every model its room, in order of who comes first."""
    if isinstance(nodes, NoData):
        unknown = Room(grants=None, evidence=(Evidence("nodes", str(nodes.why)),))
        return {claim.seen.model: unknown for claim in claims}
    left = Free(nodes, free)
    takers: dict[ClassName, ModelName] = {}
    given: dict[ModelName, Room] = {}
    waiting = sorted((claim for claim in claims if claim.need), key=lambda claim: claim.rank)
    for claim in waiting:
        given[claim.seen.model] = _grant(claim, left, takers, no_nodes=not nodes)
    for claim in claims:
        if claim.seen.model not in given:
            given[claim.seen.model] = _leftover(claim.seen, left)
    return given


def _grant(claim: Claim, left: Free, takers: dict[ClassName, ModelName], *, no_nodes: bool) -> Room:
    seen, need = claim.seen, claim.need
    short = shortages(seen)
    grants: dict[ClassName, int] = {}
    lost_to: ModelName | None = None
    for facts in seen.variants:
        name = facts.node_class
        if need <= 0 or name in short:
            continue
        taken = left.take(name, facts.devices, need)
        if taken:
            grants[name] = taken
            need -= taken
        if need and lost_to is None:
            lost_to = takers.get(name)
        if taken:
            takers[name] = seen.model
    rule = _rule(seen, short=bool(short), no_nodes=no_nodes) if need else None
    return Room(grants=grants, lost_to=lost_to if need else None, rule=rule)


def _rule(seen: ScaleInput, *, short: bool, no_nodes: bool) -> ReasonCode | None:
    """Name why nothing could be given where no other model took it."""
    if not seen.variants:
        return ReasonCode.NO_CLASS_FITS
    if no_nodes:
        return ReasonCode.NO_DEVICES
    return ReasonCode.CLASS_SHORT if short else None


def _leftover(seen: ScaleInput, left: Free) -> Room:
    """Show a model that needs nothing what it could come back to; nothing is taken for it."""
    grants = {f.node_class: left.fitting(f.node_class, f.devices) for f in seen.variants}
    return Room(grants={name: count for name, count in grants.items() if count})
