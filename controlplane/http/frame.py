"""What pages and application must agree on, so that neither imports the other's insides.

Pages register themselves with `app[FRAGMENTS]` and `app[ERROR_PAGE]`; the feed and the error
middleware use only these. Without pages (an API-only test) both fall back to plain answers.
"""

from collections.abc import Mapping
from typing import Protocol

import msgspec
from aiohttp import web

from controlplane.http.access import Role
from controlplane.http.state import State


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """All that one rendering depends on. Clients with equal glances share one rendering a tick."""

    language: str = "en"
    role: Role = Role.VIEWER
    query: tuple[tuple[str, str], ...] = ()  # of the feed's address: filters, the model …

    def get(self, name: str, default: str = "") -> str:
        """Give a parameter of the address."""
        return dict(self.query).get(name, default)


class Fragment(Protocol):
    """Renders one piece of a page, as the server would have rendered it in the whole page."""

    async def __call__(self, state: State, glance: Glance) -> str:
        """Give the HTML."""
        ...


class ErrorPage(Protocol):
    """Renders an honest error page."""

    async def __call__(self, request: web.Request, status: int, title: str, detail: str) -> str:
        """Give the HTML; `detail` is one sentence that may be shown to anybody."""
        ...


class LoginPage(Protocol):
    """Renders the form that asks for a token: a POST to the same address, field `token`."""

    async def __call__(self, request: web.Request, detail: str) -> str:
        """Give the HTML; `detail` says what was wrong, if anything was."""
        ...


LOGIN_PAGE: web.AppKey[LoginPage] = web.AppKey("login_page")

FRAGMENTS: web.AppKey[Mapping[str, Fragment]] = web.AppKey("fragments")
"""Name of an event of the feed -> what renders it, e.g. "fleet.pools" (its sse-swap)."""

ERROR_PAGE: web.AppKey[ErrorPage] = web.AppKey("error_page")
