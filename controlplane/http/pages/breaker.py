"""One model's breaker, and how the balancer treats its replicas: as rendered, and as it runs."""

from controlplane.http.pages.page import Context, Page, last_segment
from controlplane.http.pages.view import View
from controlplane.http.problems import missing
from controlplane.http.reads.breakers import LOOP, breaker_row, breaker_settings
from controlplane.http.reads.decisions import decision_list
from controlplane.http.state import State
from controlplane.ports import DecisionQuery

SHOWN = 12


async def context(state: State, view: View) -> Context:
    """Gather the page."""
    name = last_segment(view)
    row, settings = await breaker_row(state, name), await breaker_settings(state, name)
    if row is None or settings is None:
        raise missing("model", name)
    changes = await decision_list(state, DecisionQuery(loop=LOOP, subject=name, limit=SHOWN))
    return {"row": row, "settings": settings, "lines": changes.rows, "with_subject": False}


PAGE = Page("/breakers/{name}", "breaker", context, "breakers")
