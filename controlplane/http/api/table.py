"""All routes of the API in the order of its documentation; puts them onto an application."""

from functools import cache

from aiohttp import web

from controlplane.http.api import (
    breakers,
    catalogue,
    costs,
    decisions,
    fleet,
    gateways,
    health,
    overrides,
    queues,
    runs,
    signals,
    tokens,
)
from controlplane.http.api.handling import handler
from controlplane.http.api.openapi import document
from controlplane.http.api.route import Call, Route
from controlplane.http.feed import FEED_ROUTE


async def _openapi(_call: Call) -> web.Response:
    return web.Response(body=openapi(), content_type="application/json")


ROUTES: tuple[Route, ...] = (
    *fleet.ROUTES,
    *queues.ROUTES,
    *breakers.ROUTES,
    *gateways.ROUTES,
    *signals.ROUTES,
    *decisions.ROUTES,
    *overrides.ROUTES,
    *costs.ROUTES,
    *catalogue.ROUTES,
    *runs.ROUTES,
    *tokens.ROUTES,
    *health.ROUTES,
    FEED_ROUTE,
    Route(
        method="GET",
        path="/openapi.json",
        summary="This API as OpenAPI 3.1.",
        run=_openapi,
        answer=dict,
        tag="daemon",
    ),
)


@cache
def openapi() -> bytes:
    """Give the description of the API; made when somebody asks for it first."""
    return document(ROUTES)


def add_api(app: web.Application) -> None:
    """Put every route, and the CSV twin of every list, on the application."""
    for route in ROUTES:
        if route.table is not None:
            app.router.add_route(route.method, route.csv_address, handler(route, as_table=True))
    for route in ROUTES:
        app.router.add_route(route.method, route.address, handler(route))
