"""When so many nodes fall silent at once that it is the listening that failed, not the nodes.

An API server that was away for a minute has heard of no node for a minute, and the node controller
calls them all silent until each one reports again, within some ten seconds. It evicts nothing
meanwhile (its "full disruption"), and we build nothing anew. A zone that is lost while others are
heard is no hush: its replicas grow in the others at once.
"""

from collections import Counter
from collections.abc import Iterable

from controlplane.domain.fleet import Node
from controlplane.domain.quantities import Instant
from controlplane.domain.samples import NoData

BELIEVED_AFTER_S = 60.0  # a node that lives reports every 10 s, and within 50 s is called silent


def hush_since(
    nodes: Iterable[Node] | NoData, at: Instant, since: Instant | None
) -> Instant | None:
    """Give since when in every zone most nodes are silent; None where that is not so.

    `since` is what the last cycle gave.
    """
    if isinstance(nodes, NoData):
        return since  # neither confirmed nor over
    seen, silent = Counter[str](), Counter[str]()
    for node in nodes:
        seen[node.zone] += 1
        silent[node.zone] += not node.ready
    if not seen or any(2 * silent[zone] <= count for zone, count in seen.items()):
        return None
    return at if since is None else since


def hushed(at: Instant, since: Instant | None) -> bool:
    """Say whether the silence is still taken for a fault of the listening."""
    return since is not None and at - since < BELIEVED_AFTER_S
