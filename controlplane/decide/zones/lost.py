"""Which zones are lost, and which replicas that leaves without a future.

A zone is lost when none of its nodes takes pods any more: each is silent or cordoned. What serves
on its cordoned nodes goes on serving until it is replaced in another zone; what stood on silent
ones already counts for nothing (behaviour R4). Nobody waits for an eviction.
"""

from collections.abc import Iterable
from typing import NamedTuple

from controlplane.domain.fleet import Node
from controlplane.domain.quantities import NodeName, Zone
from controlplane.domain.samples import NoData


class Lost(NamedTuple):
    """The zones no pod can go to, and their nodes."""

    zones: frozenset[Zone]
    nodes: frozenset[NodeName]


NOTHING = Lost(frozenset(), frozenset())


def lost(nodes: Iterable[Node] | NoData) -> Lost:
    """Give the lost zones; none where the only zone is lost, for there is nowhere to go."""
    if isinstance(nodes, NoData):
        return NOTHING
    seen = list(nodes)
    alive = {node.zone for node in seen if node.ready and node.schedulable}
    if not alive:
        return NOTHING
    zones = frozenset(node.zone for node in seen) - alive
    return Lost(zones, frozenset(node.name for node in seen if node.zone in zones))
