"""A real Chromium before the real application over the painted fleet."""

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from aiohttp import web
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from controlplane.domain.overrides import Override
from controlplane.http.app import make_app
from controlplane.http.state import State
from tests.browser.nodes import NOW
from tests.browser.scene import StillClock, painted_state

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
DESK = {"width": 1400, "height": 900}
expect.set_options(timeout=15_000)  # a busy machine is no fault of the page
PHONE = {"width": 390, "height": 844}


class Served(NamedTuple):
    """The application as a browser reaches it, and the state behind it."""

    address: str
    state: State
    loop: asyncio.AbstractEventLoop


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium, a module long: while Playwright lives, its event loop counts as running.

    Tests of other modules in the same process could not run a loop of their own.
    """
    if not CHROMIUM.exists():
        if os.environ.get("CI"):
            pytest.fail(f"no Chromium at {CHROMIUM}: the browser tests must not be skipped here")
        pytest.skip(f"no Chromium at {CHROMIUM}")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=str(CHROMIUM),
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        )
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def painted() -> Iterator[Served]:
    """Serve the scene, painted once."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> tuple[web.AppRunner, State, int]:
        state = await painted_state()
        runner = web.AppRunner(make_app(state), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return runner, state, runner.addresses[0][1]

    runner, state, port = asyncio.run_coroutine_threadsafe(start(), loop).result(90)
    yield Served(f"http://127.0.0.1:{port}", state, loop)
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(90)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


@pytest.fixture
def served(painted: Served) -> Served:
    """Give the scene as it was painted: what one test pauses, the next finds running."""

    async def restore() -> None:
        for subject in await painted.state.overrides.overrides():
            await painted.state.overrides.put(Override(subject=subject, by="test", at=NOW))
        assert isinstance(painted.state.clock, StillClock)
        painted.state.clock.at = NOW
        for shown in ("fleet", "models", "breakers"):
            painted.state.shared.forget(shown)

    asyncio.run_coroutine_threadsafe(restore(), painted.loop).result(90)
    return painted


class Watched(NamedTuple):
    """A tab and everything the browser complained about in it."""

    page: Page
    complaints: list[str]


def open_tab(context: BrowserContext) -> Watched:
    """Open a tab that notes every error, blocked resource and exception."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("response", lambda got: complaints.append(got.url) if got.status >= 400 else None)
    return Watched(page, complaints)


@pytest.fixture
def tab(browser: Browser, served: Served) -> Iterator[Watched]:
    """A tab at a desk, in English, light."""
    context = browser.new_context(
        base_url=served.address,
        viewport={"width": DESK["width"], "height": DESK["height"]},
        locale="en-GB",
        timezone_id="UTC",
    )
    yield open_tab(context)
    context.close()


@pytest.fixture
def phone(browser: Browser, served: Served) -> Iterator[Watched]:
    """A tab on a phone."""
    context = browser.new_context(
        base_url=served.address,
        viewport={"width": PHONE["width"], "height": PHONE["height"]},
        locale="en-GB",
        timezone_id="UTC",
        is_mobile=True,
        has_touch=True,
    )
    yield open_tab(context)
    context.close()
