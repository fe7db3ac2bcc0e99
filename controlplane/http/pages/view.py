"""Who looks, and how: everything a rendering depends on besides the fleet itself."""

from datetime import UTC, tzinfo
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aiohttp import web

from controlplane.http.access import Role
from controlplane.http.auth import caller_of
from controlplane.http.frame import Glance
from controlplane.http.pages.language import chosen_language

THEMES = ("auto", "light", "dark")
ZONE = "zone"
FEED_ONLY = ("path", ZONE, "events", "topics")
"""Parameters of the feed's address that are none of the page's."""


class View(NamedTuple):
    """One reader."""

    language: str = "en"
    zone: tzinfo = UTC
    role: Role = Role.VIEWER
    theme: str = "auto"
    path: str = "/"
    query: tuple[tuple[str, str], ...] = ()

    def get(self, name: str, default: str = "") -> str:
        """Give a parameter of the address."""
        return dict(self.query).get(name, default)

    @property
    def operator(self) -> bool:
        """Say whether the reader may pause, pin and run what-ifs."""
        return self.role >= Role.OPERATOR

    @property
    def admin(self) -> bool:
        """Say whether the reader may change the catalogue and tokens."""
        return self.role >= Role.ADMIN


def view_of(request: web.Request) -> View:
    """Give the reader of a page."""
    theme = request.cookies.get("theme", "auto")
    return View(
        language=chosen_language(request),
        zone=zone_named(request.cookies.get(ZONE, "UTC")),
        role=caller_of(request).role,
        theme=theme if theme in THEMES else "auto",
        path=request.path,
        query=tuple(request.query.items()),
    )


def view_at(glance: Glance) -> View:
    """Give the reader of a fragment; the feed's address carries path, zone and filters."""
    return View(
        language=glance.language,
        zone=zone_named(glance.get(ZONE, "UTC")),
        role=glance.role,
        path=glance.get("path", "/"),
        query=tuple(pair for pair in glance.query if pair[0] not in FEED_ONLY),
    )


@lru_cache(maxsize=64)
def zone_named(name: str) -> tzinfo:
    """Give a time zone; one the system does not know is UTC."""
    try:
        return ZoneInfo(name[:64])
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def address_with(view: View, **changed: str | None) -> str:
    """Give the page's address with some parameters changed; None takes one away."""
    # Another order or filter begins at the first page again.
    query = {name: value for name, value in view.query if name not in ("before", "page")}
    for name, value in changed.items():
        if value is None or value == "":
            query.pop(name, None)
        else:
            query[name] = value
    return f"{view.path}?{urlencode(query)}" if query else view.path
