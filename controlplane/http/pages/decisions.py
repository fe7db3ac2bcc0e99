"""What was decided, newest first, narrowed by the address."""

from controlplane.domain.reasons import ReasonCode
from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.view import View
from controlplane.http.reads.decisions import decision_list
from controlplane.http.state import State
from controlplane.ports import DecisionQuery

TARGETS = "scaling"  # the loop that moves targets; the others make them so
SHOWN = 50
HOUR_S = 3600.0
COUNTED = 1000


async def context(state: State, view: View) -> Context:
    """Gather one page of the list."""
    now = state.clock.now()
    listed = await decision_list(state, wanted(view))
    recent = await decision_list(
        state, DecisionQuery(loop=TARGETS, since=now - HOUR_S, moved_only=True, limit=COUNTED)
    )
    return {
        "listed": listed,
        "moved_last_hour": len(recent.rows),
        "newest_move": recent.rows[0] if recent.rows else None,
        "subjects": sorted(state.in_force.catalogue.models),
        "loops": (TARGETS, "spare", "placement", "breakers", "catalogue"),
        "codes": sorted(ReasonCode),
        "filtered": any(view.get(name) for name in ("model", "loop", "code", "before", "q")),
    }


def wanted(view: View) -> DecisionQuery:
    """Read the filter; what makes no sense filters nothing."""
    before = view.get("before")
    code = view.get("code")
    return DecisionQuery(
        subject=view.get("model") or None,
        loop=None if view.get("loop") == "all" else view.get("loop") or TARGETS,
        code=ReasonCode(code) if code in list(ReasonCode) else None,
        moved_only=view.get("moved") != "no",
        before_id=int(before) if before.isdecimal() and len(before) < 19 else None,
        limit=SHOWN,
    )


PAGE = Page("/decisions", "decisions", context)
