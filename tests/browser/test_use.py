"""Keys, theme, language, pause and pin, the live feed: as a person uses them."""

import asyncio
from collections.abc import Awaitable

import pytest
from playwright.sync_api import Browser, expect

from controlplane.domain.overrides import Overrides
from tests.browser.conftest import Served, Watched
from tests.browser.nodes import NOW
from tests.browser.scene import StillClock

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("key", "address"),
    [
        ("1", "/"),
        ("2", "/models"),
        ("3", "/queues"),
        ("4", "/decisions"),
        ("5", "/breakers"),
        ("6", "/costs"),
        ("7", "/what-if"),
        ("8", "/settings"),
        ("?", "/help"),
    ],
)
def test_a_key_opens_its_page(tab: Watched, key: str, address: str) -> None:
    tab.page.goto("/help" if address == "/" else "/")

    tab.page.keyboard.press(key)

    tab.page.wait_for_url(f"**{address}")
    assert tab.complaints == []


def test_slash_searches_and_escape_leaves(tab: Watched) -> None:
    tab.page.goto("/")

    tab.page.keyboard.press("/")
    tab.page.keyboard.type("2legal")
    tab.page.keyboard.press("Escape")
    assert tab.page.evaluate("document.activeElement.id") != "search"
    tab.page.keyboard.press("/")
    tab.page.keyboard.press("Control+A")
    tab.page.keyboard.type("legal")
    tab.page.keyboard.press("Enter")

    tab.page.wait_for_url("**/models?q=legal")
    expect(tab.page.locator("tbody tr")).to_have_count(1)


def test_j_and_k_walk_the_rows_and_enter_opens_one(tab: Watched) -> None:
    tab.page.goto("/models")

    for key in ("j", "j", "k", "j"):
        tab.page.keyboard.press(key)
    expect(tab.page.locator("tbody tr[data-selected] th a")).to_have_text("sdxl")
    tab.page.keyboard.press("Enter")

    tab.page.wait_for_url("**/models/sdxl")


def test_a_table_is_sorted_by_its_address(tab: Watched) -> None:
    tab.page.goto("/models")

    tab.page.locator("th a", has_text="per hour").click()
    tab.page.wait_for_url("**/models?sort=cost")
    tab.page.locator("th a", has_text="per hour").click()
    tab.page.wait_for_url("**/models?sort=-cost")

    expect(tab.page.locator("tbody tr").first.locator("th a")).to_have_text("chat-70b")
    expect(tab.page.locator('th[aria-sort="descending"]')).to_have_count(1)


def test_the_theme_stays_after_a_reload(tab: Watched) -> None:
    tab.page.goto("/")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = tab.page.evaluate(ground)

    tab.page.locator("#theme").click()
    dark = tab.page.evaluate(ground)
    tab.page.reload()

    assert dark != light
    assert tab.page.evaluate(ground) == dark
    assert tab.page.locator("html").get_attribute("data-theme") == "dark"


def test_the_language_stays_and_keeps_the_page(tab: Watched) -> None:
    tab.page.goto("/models?sort=-cost")

    tab.page.get_by_text("中文").click()
    tab.page.wait_for_url("**/models?sort=-cost")
    expect(tab.page.locator("h1")).to_contain_text("个模型")
    tab.page.get_by_text("English").click()

    expect(tab.page.locator("h1")).to_contain_text("models")


def test_pausing_shows_what_it_would_do_and_then_does_it(tab: Watched, served: Served) -> None:
    tab.page.goto("/")

    tab.page.get_by_role("link", name="Pause all").click()
    sheet = tab.page.get_by_role("dialog")
    expect(sheet).to_contain_text("models touched")
    expect(sheet).to_contain_text("7")
    sheet.get_by_role("link", name="Leave it").click()
    expect(sheet).to_be_hidden()
    tab.page.get_by_role("link", name="Pause all").click()
    sheet.get_by_role("button", name="Pause").click()

    expect(tab.page.locator(".mode")).to_have_text("PAUSED")
    assert _overrides(served)["*"].paused
    tab.page.wait_for_load_state("load")  # before its scripts run, the link opens a page instead
    tab.page.get_by_role("link", name="Resume all").click()
    sheet.get_by_role("button", name="Resume").click()
    expect(tab.page.locator(".mode")).to_have_text("ACTING")
    assert _overrides(served) == {}
    assert tab.complaints == []


def test_pinning_holds_a_model_within_its_bounds(tab: Watched, served: Served) -> None:
    tab.page.goto("/models/sdxl")

    tab.page.get_by_role("link", name="Pin", exact=True).click()
    sheet = tab.page.get_by_role("dialog")
    sheet.get_by_role("spinbutton").fill("4")
    sheet.get_by_role("button", name="Pin").click()

    expect(tab.page.locator(".pill.accent")).to_contain_text("pinned to 4")
    assert _overrides(served)["sdxl"].pinned == 4


def test_isolating_asks_why_and_says_so_until_it_is_let_in(tab: Watched, served: Served) -> None:
    tab.page.goto("/breakers")
    row = tab.page.locator("#breaker-sdxl")

    row.get_by_role("link", name="Isolate").click()
    sheet = tab.page.get_by_role("dialog")
    expect(sheet).to_contain_text("requests that would be refused")
    sheet.get_by_role("textbox").fill("corrupt weights")
    sheet.get_by_role("button", name="Isolate").click()

    expect(row).to_contain_text("corrupt weights")
    held = _overrides(served)["sdxl"].isolated
    assert held is not None
    assert held.why == "corrupt weights"
    tab.page.wait_for_load_state("load")
    row.get_by_role("link", name="Let in").click()
    sheet.get_by_role("button", name="Let in").click()
    expect(row).not_to_contain_text("corrupt weights")
    assert _overrides(served) == {}
    assert tab.complaints == []


def test_the_lanes_are_live(tab: Watched) -> None:
    tab.page.goto("/queues?waiting=1")

    expect(tab.page.locator("tbody")).to_have_count(2)
    expect(tab.page.locator("#way-chat-70b-low .beads circle")).to_have_count(29)
    with tab.page.expect_response("**/api/v1/feed?*queues*") as feed:
        tab.page.reload()
    assert feed.value.status == 200
    assert tab.complaints == []


def test_pausing_works_without_scripts(browser: Browser, served: Served) -> None:
    context = browser.new_context(
        base_url=served.address, java_script_enabled=False, locale="en-GB"
    )
    page = context.new_page()
    page.goto("/")

    page.get_by_role("link", name="Pause all").click()
    page.get_by_role("button", name="Pause", exact=True).click()

    expect(page.locator(".mode")).to_have_text("PAUSED")
    assert _overrides(served)["*"].paused
    context.close()


def test_the_feed_brings_new_values_and_keeps_the_focus(tab: Watched, served: Served) -> None:
    tab.page.goto("/")
    tab.page.locator("#model-sdxl th a").focus()
    assert isinstance(served.state.clock, StillClock)

    served.state.clock.at = NOW + 8.0

    expect(tab.page.locator(".age")).to_contain_text("9.2", timeout=8000)
    assert tab.page.evaluate("document.activeElement.textContent") == "sdxl"
    expect(tab.page.locator("#stale")).to_be_hidden()


def test_a_broken_feed_is_said_and_greys_the_page(tab: Watched) -> None:
    tab.page.route("**/api/v1/feed*", lambda route: route.abort())

    tab.page.goto("/")

    expect(tab.page.locator("#stale")).to_contain_text("paused since")
    expect(tab.page.locator("body")).to_have_class("stale")


def test_a_decision_mark_opens_its_trail_beside_the_charts(tab: Watched) -> None:
    tab.page.goto("/models/chat-70b")

    tab.page.locator(".decision-mark").last.click()

    expect(tab.page.locator("#trail .ladder")).to_be_visible()
    expect(tab.page.locator("#trail")).to_contain_text("whole decision")
    assert tab.page.locator("canvas").count() == 4


def test_a_fleet_file_with_faults_is_shown_and_changes_nothing(tab: Watched) -> None:
    tab.page.goto("/settings")
    tab.page.locator("details.fold summary").click()

    tab.page.locator("textarea").fill("currency: CNY\nmodels: {}\n")
    tab.page.get_by_role("button", name="Check").click()

    expect(tab.page.get_by_role("alert")).to_contain_text("node_classes")
    expect(tab.page.locator("h1")).to_contain_text("Version 2")


def _overrides(served: Served) -> Overrides:
    asked = served.state.overrides.overrides()
    return asyncio.run_coroutine_threadsafe(_awaited(asked), served.loop).result(5)


async def _awaited(asked: Awaitable[Overrides]) -> Overrides:
    return await asked
