"""Times, money and spans as people read them; order and language from the address."""

from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from aiohttp.test_utils import make_mocked_request

from controlplane.http.frame import Glance
from controlplane.http.pages.format import clock, day, lasting, moment, money, share
from controlplane.http.pages.language import chosen_language
from controlplane.http.pages.queues import beads
from controlplane.http.pages.search import meant
from controlplane.http.pages.sorting import ordered
from controlplane.http.pages.view import View, address_with, view_at, zone_named

NOON = 1_796_040_000.0  # 2026-11-30 12:00:00 UTC
UTC = ZoneInfo("UTC")
SHANGHAI = ZoneInfo("Asia/Shanghai")


def plain(written: str) -> str:
    return written.replace("\u00a0", " ").replace("\u202f", " ")


def test_a_moment_carries_its_day_only_when_it_is_another() -> None:
    assert clock(NOON, UTC) == "12:00:00"
    assert moment(NOON - 60, NOON, UTC, "en") == "11:59:00"
    assert moment(NOON - 86_400, NOON, UTC, "en") == "29 Nov 12:00:00"
    assert moment(None, NOON, UTC, "en") == "–"


def test_a_moment_is_told_in_the_readers_zone_and_language() -> None:
    assert clock(NOON, SHANGHAI) == "20:00:00"
    assert day(NOON + 5 * 3600, SHANGHAI, "zh") == "12月1日"
    assert day(NOON, UTC, "zh") == "11月30日"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (34, "34 s"), (120, "2 min"), (5_399, "90 min"), (7_200, "2 h"), (259_200, "3 d")],
)
def test_how_long_something_lasts_is_said_in_one_unit(seconds: float, said: str) -> None:
    assert plain(lasting(NOON - seconds, NOON)) == said


@pytest.mark.parametrize(
    ("micros", "said"),
    [
        (612_000_000, "¥ 612.0"),
        (42_800_000, "¥ 42.80"),
        (1_234_567_890_000, "¥ 1 234 568"),
        (0, "¥ 0"),
        (-3_200_000, "¥ −3.20"),
        (None, "–"),
    ],
)
def test_money_has_the_decimals_its_size_deserves(micros: int | None, said: str) -> None:
    assert plain(money(micros, "CNY")) == said


def test_a_currency_without_a_symbol_is_named() -> None:
    assert plain(money(1_000_000, "CHF")) == "CHF 1.00"


@pytest.mark.parametrize(("x", "said"), [(0.14, "14 %"), (0.036, "3.6 %"), (1, "100 %")])
def test_a_share_is_a_percentage(x: float, said: str) -> None:
    assert plain(share(x)) == said


class Row(NamedTuple):
    name: str
    cost: float | None


def test_what_is_unknown_sorts_last_either_way() -> None:
    rows = [Row("a", 2.0), Row("b", None), Row("c", 1.0)]
    columns = {"cost": lambda row: row.cost, "name": lambda row: row.name}

    assert [row.name for row in ordered(rows, "cost", columns)] == ["c", "a", "b"]
    assert [row.name for row in ordered(rows, "-cost", columns)] == ["a", "c", "b"]
    assert [row.name for row in ordered(rows, "-name", columns)] == ["c", "b", "a"]
    assert ordered(rows, "nonsense", columns) == rows


def test_an_address_keeps_its_filters_and_forgets_the_page_of_a_list() -> None:
    view = View(path="/decisions", query=(("model", "a"), ("before", "7")))

    assert address_with(view, loop="spare") == "/decisions?model=a&loop=spare"
    assert address_with(view, model=None) == "/decisions"


def test_a_fragment_knows_its_page_by_the_feeds_address() -> None:
    query = (("events", "top,model"), ("path", "/models/a"), ("zone", "Asia/Shanghai"), ("q", "x"))

    view = view_at(Glance(language="zh", query=query))

    assert (view.path, view.query, str(view.zone)) == ("/models/a", (("q", "x"),), "Asia/Shanghai")


@pytest.mark.parametrize(
    ("cookie", "header", "language"),
    [
        ("", "", "en"),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "de,fr;q=0.9,en;q=0.5,zh;q=0.4", "en"),
        ("zh", "en", "zh"),
        ("xx", "en", "en"),
        ("", "zh;q=nonsense", "en"),
    ],
)
def test_the_choice_of_a_language_comes_before_the_browsers(
    cookie: str, header: str, language: str
) -> None:
    headers = {"Accept-Language": header, "Cookie": f"language={cookie}"}

    assert chosen_language(make_mocked_request("GET", "/", headers=headers)) == language


def test_a_zone_nobody_knows_is_utc() -> None:
    assert str(zone_named("Asia/Shanghai")) == "Asia/Shanghai"
    assert str(zone_named("../../etc/passwd")) == "UTC"
    assert str(zone_named("")) == "UTC"


@pytest.mark.parametrize(
    ("waiting", "drawn", "each"), [(None, 0, 1), (0, 0, 1), (1, 1, 1), (40, 40, 1), (41, 21, 2)]
)
def test_beads_stand_for_several_requests_when_there_are_too_many(
    waiting: float | None, drawn: int, each: int
) -> None:
    assert beads(waiting) == (drawn, each)


@pytest.mark.parametrize(
    ("sought", "address"),
    [
        ("5346", "/decisions/5346"),
        (" #5346 ", "/decisions/5346"),
        ("drainTooSlow", "/help#DrainTooSlow"),
        ("llama 70b", "/models?q=llama+70b"),
        ("٣", "/models?q=%D9%A3"),
        ("9" * 40, f"/models?q={'9' * 40}"),
        ("", "/models"),
    ],
)
def test_a_search_leads_to_what_is_meant(sought: str, address: str) -> None:
    assert meant(sought) == address
