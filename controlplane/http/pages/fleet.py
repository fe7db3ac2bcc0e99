"""The first page: what needs attention, the fleet in four figures, devices, models."""

from collections.abc import Iterable, Mapping, Sequence

from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.sorting import in_order
from controlplane.http.pages.view import View
from controlplane.http.reads.fleet import fleet
from controlplane.http.reads.shapes.fleet import Attention
from controlplane.http.state import State

NODES, MOST_NODES = 24, 400  # drawn a pool; more when the address names the pool
MODELS = 50


async def context(state: State, view: View) -> Context:
    """Gather the first page."""
    seen = await fleet(state)
    chosen = view.get("pool")
    pools = [pool for pool in seen.pools if chosen in ("", pool.node_class)] or seen.pools
    nodes = MOST_NODES if chosen else NODES
    devices = [cell for pool in pools for node in pool.nodes[:nodes] for cell in node.devices]
    return {
        "fleet": seen,
        "pools": pools,
        "nodes_shown": nodes,
        "groups": grouped(seen.attention),
        "rows": in_order(seen.models, view.get("sort"))[:MODELS],
        "shown_models": {cell.model for cell in devices if cell.model},
        "shown_foreign": any(cell.foreign for cell in devices),
    }


def grouped(rows: Iterable[Attention]) -> Mapping[str, Sequence[Attention]]:
    """Put together what is about one subject; the worst subject first, as the rows came."""
    groups: dict[str, list[Attention]] = {}
    for row in rows:
        groups.setdefault(row.subject, []).append(row)
    return groups


PAGE = Page("/", "fleet", context)
