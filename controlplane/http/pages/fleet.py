"""The first page: what needs attention, the fleet in four figures, devices, models."""

from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.sorting import in_order
from controlplane.http.pages.view import View
from controlplane.http.reads.fleet import fleet
from controlplane.http.state import State


async def context(state: State, view: View) -> Context:
    """Gather the first page."""
    seen = await fleet(state)
    devices = (cell for pool in seen.pools for node in pool.nodes for cell in node.devices)
    return {
        "fleet": seen,
        "rows": in_order(seen.models, view.get("sort")),
        "shown_models": {cell.model for cell in devices if cell.model},
    }


PAGE = Page("/", "fleet", context)
