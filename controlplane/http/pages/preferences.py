"""Language and theme: kept in cookies, set by plain links, so they work without scripts."""

from aiohttp import web

from controlplane.http.login import own_address
from controlplane.http.pages.language import COOKIE, LANGUAGES
from controlplane.http.pages.view import THEMES
from controlplane.http.problems import bad

KEPT_S = 365 * 86_400
CHOICES = {COOKIE: tuple(LANGUAGES), "theme": THEMES}


async def choose(request: web.Request) -> web.Response:
    """Keep a choice and go back to where it was made."""
    name, value = request.match_info["name"], request.match_info["value"]
    if value not in CHOICES.get(name, ()):
        raise bad(name, value, f"is none of {', '.join(CHOICES.get(name, ()))}")
    response = web.HTTPSeeOther(own_address(request.query.get("next", "/")))
    response.set_cookie(name, value, max_age=KEPT_S, samesite="Lax", path="/")
    raise response


def add_routes(app: web.Application) -> None:
    """Add the links."""
    app.router.add_get("/preferences/{name}/{value}", choose)
