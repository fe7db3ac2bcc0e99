"""The HTTP application: pages, API, live feed, probes; each request passes the same gates.

errors -> counted -> guard (Host, Origin) -> authenticate (who, which role) -> audited -> page
"""

import asyncio
from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler

from controlplane.http.api.table import add_api
from controlplane.http.audit import audited
from controlplane.http.auth import authenticate
from controlplane.http.errors import errors
from controlplane.http.feed import broadcasting, end_streams
from controlplane.http.guard import guard
from controlplane.http.health import healthz, metrics, readyz
from controlplane.http.login import log_in, log_out, show_login
from controlplane.http.pages import add_pages
from controlplane.http.state import STATE, State

LARGEST_BODY = 2 * 2**20  # a fleet file of a million characters fits

SECURITY_HEADERS = {
    # Style attributes set the heights of device cells; no script is ever inline.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        "style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
}


def make_app(
    state: State, pages: Callable[[web.Application], None] | None = add_pages
) -> web.Application:
    """Make the application; `pages` None leaves an API without pages."""
    app = web.Application(
        middlewares=[errors, counted, guard, authenticate, audited], client_max_size=LARGEST_BODY
    )
    app[STATE] = state
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/login", show_login)
    app.router.add_post("/login", log_in)
    app.router.add_post("/logout", log_out)
    add_api(app)
    if pages is not None:
        pages(app)
    app.on_response_prepare.append(_secured)
    app.cleanup_ctx.append(broadcasting)
    app.on_shutdown.append(end_streams)
    return app


@web.middleware
async def counted(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Count requests by route, never by address: addresses are without end."""
    status = 500
    try:
        response = await handler(request)
        status = response.status
    except web.HTTPException as error:
        status = error.status
        raise
    except asyncio.CancelledError:
        status = 499
        raise
    finally:
        resource = request.match_info.route.resource
        route = resource.canonical if resource is not None else "none"
        request.app[STATE].metrics.requests.labels(request.method, route, str(status)).inc()
    return response


async def _secured(_request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers that keep a browser from doing what nobody meant."""
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers["Server"] = "controlplane"  # and not which Python, which library
