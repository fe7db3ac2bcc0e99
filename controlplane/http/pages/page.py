"""A page: one address, one template, one function that gathers what it shows.

The very same function and template render its live part for the feed, so what is pushed is what a
reload would show.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urlencode

from aiohttp import web

from controlplane.http.frame import Fragment, Glance
from controlplane.http.pages.language import translations
from controlplane.http.pages.rendering import RENDERER, Renderer, answer
from controlplane.http.pages.view import ZONE, View, view_at, view_of
from controlplane.http.reads.fleet import top_bar
from controlplane.http.state import STATE, State

Context = Mapping[str, Any]
FEED = "/api/v1/feed"


class Page(NamedTuple):
    """`name` is its rail entry, its template and the name of its live part."""

    path: str
    name: str
    context: Callable[[State, View], Awaitable[Context]]
    rail: str = ""  # the rail entry to mark, where it is another's

    @property
    def template(self) -> str:
        """The whole page."""
        return f"{self.name}.html"

    @property
    def part(self) -> str:
        """What of it is live."""
        return f"parts/{self.name}.html"

    async def show(self, request: web.Request) -> web.Response:
        """Answer a request for the page."""
        state, view = request.app[STATE], view_of(request)
        context = {**await frame(state, view, self), **await self.context(state, view)}
        return answer(await request.app[RENDERER].html(state, self.template, view, context))

    def fragment(self, renderer: Renderer) -> Fragment:
        """Give what renders the live part for the feed."""

        async def render(state: State, glance: Glance) -> str:
            view = view_at(glance)
            context = {**await frame(state, view, self), **await self.context(state, view)}
            return await renderer.html(state, self.part, view, context)

        return render


async def frame(state: State, view: View, page: Page) -> Context:
    """Gather what surrounds every page."""
    here = f"{view.path}?{urlencode(view.query)}" if view.query else view.path
    watched = {"events": f"top,count,{page.name}", "path": view.path, ZONE: str(view.zone)}
    return {
        "top": await top_bar(state),
        "page": page.rail or page.name,
        "here": here,
        "rail": rail(view.language),
        # A page without an address of its own (an error) is not followed.
        "feed_address": f"{FEED}?{urlencode({**dict(view.query), **watched})}" if page.path else "",
    }


def rail(language: str) -> tuple[tuple[int, str, str, str], ...]:
    """List the rail: key, name, address, label. The keys never change."""
    _ = translations(language).gettext
    return (
        (1, "fleet", "/", _("Fleet")),
        (2, "models", "/models", _("Models")),
        (3, "queues", "/queues", _("Queues")),
        (4, "decisions", "/decisions", _("Decisions")),
        (5, "breakers", "/breakers", _("Breakers")),
        (6, "costs", "/costs", _("Costs")),
        (7, "whatif", "/what-if", _("What-if")),
        (8, "settings", "/settings", _("Settings")),
    )


def last_segment(view: View) -> str:
    """Give what the address ends in: a model's name, a decision's number."""
    return unquote(view.path.rsplit("/", 1)[-1])
