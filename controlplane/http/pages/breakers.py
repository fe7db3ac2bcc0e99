"""Breakers: what stands between a failing model and the others, and where it will be shown."""

from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.view import View
from controlplane.http.state import State


async def context(state: State, view: View) -> Context:  # noqa: ARG001
    """Nothing is shown that nobody measures."""
    return {}


PAGE = Page("/breakers", "breakers", context)
