"""How many replicas must serve so that the rest holds when the fullest zone is lost.

Spread evenly over z zones, the fullest of n holds ceil(n / z). So n is the least number with
n - ceil(n / z) >= need.
"""

from collections.abc import Collection, Iterable

from controlplane.domain.fleet import Node
from controlplane.domain.quantities import ClassName
from controlplane.domain.samples import NoData


def surviving(need: int, zones: int) -> int:
    """Give the fewest replicas of which `need` are left when the fullest of `zones` is lost.

    With one zone nothing survives, and nothing is added.
    """
    if need <= 0 or zones < 2:
        return max(0, need)
    # n - ceil(n / z) = floor(n (z - 1) / z), so n >= need z / (z - 1).
    return -(-need * zones // (zones - 1))


def zones_for(nodes: Iterable[Node] | NoData, classes: Collection[ClassName]) -> int:
    """Count the zones that have nodes of one of these classes.

    A lost zone counts too: while it is lost the margin is in use, and is not asked for twice.
    """
    if isinstance(nodes, NoData):
        return 0
    return len({node.zone for node in nodes if node.node_class in classes})
