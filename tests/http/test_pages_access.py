"""Pages pass the same gates as the API: roles, other sites, the audit log."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from aiohttp import web
from pytest_aiohttp.plugin import AiohttpClient

from controlplane.http.access import Access, Role
from controlplane.http.app import make_app
from controlplane.http.frame import ERROR_PAGE
from controlplane.http.problems import bad
from controlplane.http.state import State
from tests.http.conftest import Client, a_token

PAGE = {"Accept": "text/html"}


async def _look(request: web.Request) -> web.Response:  # noqa: ARG001 - a handler
    return web.Response(text="seen")


async def _start(request: web.Request) -> web.Response:
    if request.match_info["run"] == "bad":
        raise bad("run", "bad", "is no run")
    raise web.HTTPSeeOther("/")


def _pages(app: web.Application) -> None:
    app.router.add_get("/", _look)
    app.router.add_post("/run/{run}", _start)
    app[ERROR_PAGE] = _shown


async def _shown(request: web.Request, status: int, title: str, detail: str) -> str:  # noqa: ARG001
    return f"<main>our frame: {status}: {detail}</main>"


@pytest.fixture
def site(aiohttp_client: AiohttpClient, state: State) -> Callable[[], Awaitable[Client]]:
    async def open_() -> Client:
        return await aiohttp_client(make_app(state, pages=_pages))

    return open_


async def test_a_change_through_a_page_is_written_down_done_or_refused(
    site: Callable[[], Awaitable[Client]], state: State
) -> None:
    client = await site()

    await client.post("/run/r1", allow_redirects=False)
    await client.post("/run/bad")

    assert [(e.who, e.what, e.subject, e.ending) for e in await state.audit.entries()] == [
        ("local", "POST /run/{run}", "bad", "refused: run: 'bad' is no run"),
        ("local", "POST /run/{run}", "r1", "done"),
    ]


async def test_a_viewer_looks_at_pages_and_changes_nothing_through_them(
    site: Callable[[], Awaitable[Client]], state: State
) -> None:
    viewer = await a_token(state, Role.VIEWER)
    client = await site()

    assert (await client.get("/", headers=viewer)).status == 200
    assert (await client.post("/run/r1", headers=viewer)).status == 403


async def test_another_site_changes_nothing_through_a_page(
    site: Callable[[], Awaitable[Client]], state: State
) -> None:
    client = await site()

    response = await client.post("/run/r1", headers={"Origin": "http://evil.example"})

    assert response.status == 403
    assert await state.audit.entries() == []


async def test_the_error_page_stands_in_our_frame_for_who_is_let_in(
    site: Callable[[], Awaitable[Client]],
) -> None:
    client = await site()

    inside = await client.get("/nowhere", headers=PAGE)
    outside = await client.get("/", headers={**PAGE, "Host": "evil.example"})

    assert "our frame: 404" in await inside.text()
    assert outside.status == 403
    assert "our frame" not in await outside.text()


async def test_who_is_not_let_in_is_sent_to_log_in_and_told_nothing(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    public = replace(state, access=Access(loopback=False))
    client = await aiohttp_client(make_app(public, pages=_pages))

    sent = await client.get("/nowhere", headers=PAGE, allow_redirects=False)
    fragment = await client.get("/nowhere", headers={**PAGE, "HX-Request": "true"})

    assert sent.headers["Location"].startswith("/login")
    assert fragment.status == 401
