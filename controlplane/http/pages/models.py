"""All models in one table: searched, narrowed and sorted by the address."""

from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.sorting import in_order
from controlplane.http.pages.view import View
from controlplane.http.reads.models import model_rows
from controlplane.http.reads.shapes.models import ModelRow
from controlplane.http.state import State

SHOWN = 100


async def context(state: State, view: View) -> Context:
    """Gather the table."""
    every = await model_rows(state)
    rows = in_order([row for row in every if _wanted(row, view)], view.get("sort"))
    number = view.get("page")
    first = (int(number) - 1) * SHOWN if number.isdecimal() and 0 < len(number) < 7 else 0
    return {
        "rows": rows[max(first, 0) :][:SHOWN],
        "number": max(first, 0) // SHOWN + 1,
        "numbers": -(-len(rows) // SHOWN),
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
