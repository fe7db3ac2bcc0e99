"""All models in one table: searched, narrowed and sorted by the address."""

from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.sorting import in_order
from controlplane.http.pages.view import View
from controlplane.http.reads.models import model_rows
from controlplane.http.reads.shapes.models import ModelRow
from controlplane.http.state import State


async def context(state: State, view: View) -> Context:
    """Gather the table."""
    every = await model_rows(state)
    rows = [row for row in every if _wanted(row, view)]
    return {
        "rows": in_order(rows, view.get("sort")),
        "all": len(every),
        "broken": [row.name for row in every if row.slo_broken or row.wait.beyond],
        "teams": sorted({row.team for row in every}),
        "kinds": sorted({row.kind for row in every}),
    }


def _wanted(row: ModelRow, view: View) -> bool:
    sought = view.get("q").strip().lower()
    return (
        (not sought or sought in row.name.lower() or sought in row.team.lower())
        and view.get("team") in ("", row.team)
        and view.get("kind") in ("", row.kind)
    )


PAGE = Page("/models", "models", context)
