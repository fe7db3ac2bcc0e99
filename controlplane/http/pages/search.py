"""One field for everything that has a name: a decision's number, a reason code, a model."""

from urllib.parse import urlencode

from aiohttp import web

from controlplane.domain.reasons import ReasonCode
from controlplane.http.pages.decision import LONGEST

CODES = {code.lower(): code for code in ReasonCode}


async def search(request: web.Request) -> web.Response:
    """Lead to what is meant; whatever is no number and no code is sought among the models."""
    raise web.HTTPSeeOther(meant(request.query.get("q", "")))


def meant(sought: str) -> str:
    """Give the address of what a search means."""
    wish = sought.strip().removeprefix("#")
    if wish.isdecimal() and wish.isascii() and len(wish) <= LONGEST:
        return f"/decisions/{wish}"
    code = CODES.get(wish.lower())
    if code is not None:
        return f"/help#{code}"
    return f"/models?{urlencode({'q': sought.strip()})}" if wish else "/models"


def add_routes(app: web.Application) -> None:
    """Add the field's target."""
    app.router.add_get("/search", search)
