"""One model: how it fares, four charts on one axis, where it can run, what it is made of."""

from controlplane.http.pages.page import Context, Page, last_segment
from controlplane.http.pages.view import View
from controlplane.http.problems import missing
from controlplane.http.reads.breakers import breaker_row
from controlplane.http.reads.detail import model_detail
from controlplane.http.state import State

RANGES = (15, 60)
DEFAULT_RANGE = 60


async def context(state: State, view: View) -> Context:
    """Gather the page."""
    name = last_segment(view)
    detail = await model_detail(state, name)
    if detail is None:
        raise missing("model", name)
    minutes = view.get("minutes")
    signals = None if state.signals is None else state.signals.sources(name)
    return {
        "model": detail,
        "row": detail.row,
        "signals": signals,
        "breaker": await breaker_row(state, name),
        "ranges": RANGES,
        "minutes": int(minutes) if minutes in map(str, RANGES) else DEFAULT_RANGE,
    }


PAGE = Page("/models/{name}", "model", context, "models")
