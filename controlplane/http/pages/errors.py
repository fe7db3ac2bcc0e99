"""The error page, and the form that asks for a token.

Whoever is not known yet sees nothing of the fleet, not even its name: both then stand in a bare
page without the frame.
"""

from aiohttp import web

from controlplane.http.access import CALLER, Caller, Role
from controlplane.http.pages.page import Context, Page, frame, rail
from controlplane.http.pages.rendering import RENDERER
from controlplane.http.pages.view import View, view_of
from controlplane.http.state import STATE, State

NOBODY = Caller("", Role.VIEWER)


async def _nothing_more(state: State, view: View) -> Context:  # noqa: ARG001
    return {}


PAGE = Page("", "error", _nothing_more)


async def show(request: web.Request, status: int, title: str, detail: str) -> str:
    """Render the error page."""
    state = request.app[STATE]
    known = CALLER in request
    if not known:
        request[CALLER] = NOBODY
    view = view_of(request)
    around = await frame(state, view, PAGE) if known else {"rail": rail(view.language)}
    said = {"status": status, "words": title, "detail": detail, "framed": known}
    return await request.app[RENDERER].html(state, PAGE.template, view, {**around, **said})


async def log_in(request: web.Request, detail: str) -> str:
    """Render the form that asks for a token."""
    request[CALLER] = NOBODY
    state, view = request.app[STATE], view_of(request)
    return await request.app[RENDERER].html(state, "login.html", view, {"detail": detail})
