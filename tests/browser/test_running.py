"""What-if runs and their charts: started, followed, cancelled, shown."""

import asyncio

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Served, Watched
from tests.browser.runs import PaintedRuns

pytestmark = pytest.mark.browser


def test_runs_are_started_followed_and_cancelled(tab: Watched, served: Served) -> None:
    tab.page.goto("/what-if")

    tab.page.get_by_label("And others").fill("hpa:0.6")
    tab.page.get_by_role("button", name="Run").click()
    expect(tab.page.locator("progress")).to_have_count(3)
    tab.page.locator(".run", has_text="hpa:0.6").get_by_role("button").click()

    expect(tab.page.locator("progress")).to_have_count(2)
    runs = asyncio.run_coroutine_threadsafe(served.state.whatif.runs(), served.loop).result(5)
    assert {run.policy: run.state for run in runs}["hpa:0.6"] == "cancelled"


def finish_two_runs(served: Served) -> None:
    share = {"arrived": 10, "in_time_ratio": 0.9}
    report = {
        "gpu_hours": 9.0, "bound_gpu_hours": 8.8, "idle_ratio": 0.3, "max_replicas": 6,
        "direction_changes": 2, "classes": dict.fromkeys(("high", "medium", "low"), share),
    }  # fmt: skip
    runs = served.state.whatif
    for policy in ("static:4", "controlplane"):
        start = runs.start("seed-000", policy, 1)
        run = asyncio.run_coroutine_threadsafe(start, served.loop).result(5)
        assert isinstance(runs, PaintedRuns)
        runs.advance(run.id, "done", 1.0, report)


def test_a_finished_run_shows_how_it_went(tab: Watched, served: Served) -> None:
    finish_two_runs(served)

    tab.page.goto("/what-if")
    expect(tab.page.locator("#course h2")).to_have_text("How controlplane went")
    expect(tab.page.locator("#course canvas")).to_have_count(4)
    tab.page.locator("table").get_by_role("link", name="static:4").click()

    expect(tab.page.locator("#course h2")).to_have_text("How static:4 went")
    expect(tab.page.locator("#course .reading").last).to_contain_text("target 4")
    assert tab.complaints == []


def test_charts_that_went_while_their_figures_were_under_way_are_drawn_when_they_come_back(
    tab: Watched, served: Served
) -> None:
    finish_two_runs(served)
    held: list[Route] = []
    tab.page.route("**/courses", lambda route: held.append(route))  # noqa: PLW0108  # a bound method cannot be marked
    tab.page.route("**/api/v1/feed*", lambda route: route.abort())
    live = "document.dispatchEvent(new CustomEvent('live', { detail: 'whatif' }))"

    tab.page.goto("/what-if", wait_until="domcontentloaded")
    while not held:
        tab.page.wait_for_timeout(20)
    tab.page.evaluate(
        f"() => {{ window.gone = document.querySelector('#course'); gone.remove(); {live} }}"
    )
    with tab.page.expect_response("**/courses"):
        held.pop().continue_()
    tab.page.evaluate(f"() => {{ document.querySelector('main').append(gone); {live} }}")
    while not held:
        tab.page.wait_for_timeout(20)
    held.pop().continue_()

    expect(tab.page.locator("#course canvas")).to_have_count(4)
    assert not [said for said in tab.complaints if "feed" not in said and "ERR_FAILED" not in said]
