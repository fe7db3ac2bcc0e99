"""Every page opens in a real browser without a complaint, at a desk and on a phone."""

import re

import pytest

from tests.browser.conftest import Watched

pytestmark = pytest.mark.browser

PAGES = (
    "/",
    "/models",
    "/models/chat-70b",
    "/queues",
    "/decisions",
    "/decisions/8",
    "/breakers",
    "/breakers/chat-70b",
    "/costs",
    "/what-if",
    "/settings",
    "/help",
)

UNNAMED = """() => [...document.querySelectorAll(
  "button, a[href], input:not([type=hidden]), select, textarea, svg[role=img], summary, th"
)].filter((one) => {
  const label = one.labels?.length && [...one.labels].some((l) => l.textContent.trim());
  const words = one.textContent.trim() || one.getAttribute("aria-label") || one.title;
  return one.checkVisibility() && !label && !words;
}).map((one) => one.outerHTML.slice(0, 120))"""

DUPLICATES = """() => {
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}"""


@pytest.mark.parametrize("address", PAGES)
def test_a_page_opens_without_complaint_and_names_its_parts(tab: Watched, address: str) -> None:
    tab.page.goto(address)
    tab.page.wait_for_load_state("load")

    assert tab.complaints == []
    assert tab.page.locator("h1").count() == 1
    assert tab.page.locator("main").count() == 1
    assert tab.page.locator("nav[aria-label]").count() == 1
    assert tab.page.locator('[aria-current="page"]').count() == 1
    # Whatever can be used or read has a name, and is there once.
    assert tab.page.evaluate(UNNAMED) == []
    assert tab.page.evaluate(DUPLICATES) == []
    for table in tab.page.locator("table").all():
        assert table.locator("caption").count() == 1


@pytest.mark.parametrize("address", PAGES)
def test_a_phone_scrolls_no_page_sideways(phone: Watched, address: str) -> None:
    phone.page.goto(address)

    wide = phone.page.evaluate("document.documentElement.scrollWidth")

    assert wide <= 390
    rail = phone.page.locator("nav.rail").bounding_box()
    assert rail is not None
    assert rail["y"] > 700  # at the bottom
    assert phone.complaints == []


@pytest.mark.parametrize("address", PAGES)
def test_a_page_reads_in_chinese_too(tab: Watched, address: str) -> None:
    tab.page.goto(f"/preferences/language/zh?next={address}")

    assert tab.page.locator("html").get_attribute("lang") == "zh-Hans"
    assert "机群" in tab.page.locator("nav.rail").inner_text()
    assert tab.complaints == []


def test_the_cost_report_fits_a4(tab: Watched) -> None:
    tab.page.goto("/costs")

    printed = tab.page.pdf(format="A4", prefer_css_page_size=True)

    assert len(re.findall(rb"/Type\s*/Page[^s]", printed)) == 1
