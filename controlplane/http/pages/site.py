"""The pages' routes, live fragments and error page, wired onto the application."""

from aiohttp import web

from controlplane.http.frame import ERROR_PAGE, FRAGMENTS, LOGIN_PAGE, Fragment
from controlplane.http.pages import (
    breaker,
    breakers,
    costs,
    decision,
    decisions,
    errors,
    fleet,
    model,
    models,
    overrides,
    preferences,
    queues,
    search,
    settings,
    whatif,
)
from controlplane.http.pages import (
    help as help_page,
)
from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.rendering import RENDERER, Renderer
from controlplane.http.pages.view import View
from controlplane.http.state import State
from controlplane.shipped import shipped

PAGES: tuple[Page, ...] = (
    fleet.PAGE,
    models.PAGE,
    model.PAGE,
    queues.PAGE,
    decisions.PAGE,
    decision.PAGE,
    breakers.PAGE,
    breaker.PAGE,
    costs.PAGE,
    whatif.PAGE,
    settings.PAGE,
    help_page.PAGE,
)


async def _nothing_more(state: State, view: View) -> Context:  # noqa: ARG001
    return {}


FRAME_PARTS = (Page("", "top", _nothing_more), Page("", "count", _nothing_more))


def add_pages(app: web.Application) -> None:
    """Put every page on the application."""
    renderer = app[RENDERER] = Renderer(app)
    for page in PAGES:
        app.router.add_get(page.path, page.show)
    app.router.add_get("/decisions/{number}/trail", decision.trail)
    for forms in (overrides, preferences, search, settings, whatif):
        forms.add_routes(app)
    app.router.add_static("/static/", shipped("web") / "static")
    fragments: dict[str, Fragment] = {
        part.name: part.fragment(renderer) for part in (*PAGES, *FRAME_PARTS)
    }
    app[FRAGMENTS] = fragments
    app[ERROR_PAGE] = errors.show
    app[LOGIN_PAGE] = errors.log_in
