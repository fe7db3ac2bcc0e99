"""What stands between a failing model and its callers: state, what was counted, what comes next."""

from collections import Counter
from collections.abc import Sequence

from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.sorting import ordered
from controlplane.http.pages.view import View
from controlplane.http.reads.breakers import BY_HAND_ALONE, breaker_rows
from controlplane.http.reads.queues import NOT_COUNTED
from controlplane.http.reads.shapes.breakers import BreakerRow
from controlplane.http.state import State

SHOWN = 100
WORST_FIRST = ("open", "half-open", "isolated", None, "closed")
STATES = ("closed", "open", "half-open", "isolated")

COLUMNS = {
    "name": lambda row: row.model,
    "state": lambda row: WORST_FIRST.index(row.state),
    "since": lambda row: row.since,
    "failures": lambda row: row.failures.value,
    "ejected": lambda row: row.ejected.value,
    "out": lambda row: row.ejection_s,
    "last": lambda row: row.last.at if row.last else None,
}


async def context(state: State, view: View) -> Context:
    """Gather the table, those that refuse requests first."""
    every = sorted(await breaker_rows(state), key=lambda row: WORST_FIRST.index(row.state))
    rows = ordered((row for row in every if _wanted(row, view)), view.get("sort"), COLUMNS)
    number = view.get("page")
    first = (int(number) - 1) * SHOWN if number.isdecimal() and 0 < len(number) < 7 else 0
    return {
        "rows": rows[max(first, 0) :][:SHOWN],
        "number": max(first, 0) // SHOWN + 1,
        "numbers": -(-len(rows) // SHOWN),
        "counts": Counter(row.state for row in every),
        "opened": [row.model for row in every if row.state in ("open", "half-open")],
        "isolated": [row.model for row in every if row.isolated_by],
        "flapping": [row.model for row in every if row.flaps],
        "states": STATES,
        "teams": sorted({row.team for row in every}),
        "why": _why(every),
    }


def _wanted(row: BreakerRow, view: View) -> bool:
    sought = view.get("q").strip().lower()
    return (
        (not sought or sought in row.model.lower() or sought in row.team.lower())
        and view.get("team") in ("", row.team)
        and view.get("state") in ("", row.state)
    )


def _why(rows: Sequence[BreakerRow]) -> str:
    """Say why failures are not counted, where they are not."""
    whys = {row.failures.why for row in rows}
    known = (NOT_COUNTED, "Unreachable", BY_HAND_ALONE)
    return next((why for why in known if why in whys), "")


PAGE = Page("/breakers", "breakers", context)
