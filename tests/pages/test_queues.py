"""The page of queues: who waits, what was refused and why; and what nobody counts."""

import re
from copy import copy
from dataclasses import replace

import msgspec
from pytest_aiohttp.plugin import AiohttpClient

from controlplane.domain.quantities import ModelName
from controlplane.domain.samples import reading
from controlplane.http.app import make_app
from controlplane.http.door import FrontDoor
from controlplane.http.reads.queues import queue_rows
from controlplane.http.state import State
from tests.browser.nodes import NOW
from tests.pages.conftest import Client

HTML = {"Accept": "text/html"}


async def text(client: Client, address: str = "/queues") -> str:
    answer = await client.get(address, headers=HTML)
    assert answer.status == 200
    return await answer.text()


def lane(page: str, name: str) -> str:
    found = re.search(rf'<tr class="way \w+" id="way-{name}">(.*?)</tr>', page, re.DOTALL)
    assert found
    return found[1]


async def test_the_page_answers_who_waits_and_names_the_worst_against_its_promise(
    client: Client,
) -> None:
    page = await text(client)

    assert "<h1>245 requests wait</h1>" in page
    assert "1.7 s of 1 s, class high of whisper-l3" in page.replace("\u00a0", " ")


async def test_a_lane_shows_its_bound_its_slots_and_why_requests_were_refused(
    client: Client,
) -> None:
    low = lane(await text(client), "chat-70b-low").replace("\u00a0", " ")

    assert "86 of 200" in low
    assert "20 of 68" in low
    assert '<a href="/help#QueueFull">Queue full</a> 41' in low
    assert '<a href="/help#DeadlinePassed">Deadline passed</a> 2' in low
    assert "waiting: batch 74, search 12" in low
    assert "1 by minimum service" in low


async def test_who_waits_now_drains_in_what_the_slots_now_take_for_them(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    chat = ModelName("chat-70b")
    load = msgspec.structs.replace(state.history.loads[chat], service_s=reading(0.8, NOW))
    history = copy(state.history)
    history.loads = {**history.loads, chat: load}
    client = await aiohttp_client(make_app(replace(state, history=history)))
    lanes = [row for row in await queue_rows(state) if row.model == chat]
    assert sum(lane.waiting.value or 0.0 for lane in lanes) == 236
    assert lanes[0].slots == 64

    page = (await text(client)).replace("\u00a0", " ")

    road = re.search(r'id="road-chat-70b".*?drains in ([^,]+),', page, re.DOTALL)
    assert road is not None
    assert road[1] == "3 s"  # 236 x 0.8 s / 64 = 2.95 s


async def test_the_most_urgent_of_what_waits_comes_first_and_the_address_narrows_it(
    client: Client,
) -> None:
    roads = re.findall(r'id="road-([\w-]+)"', await text(client))
    waiting = re.findall(r'id="road-([\w-]+)"', await text(client, "/queues?waiting=1"))
    by_name = re.findall(r'id="road-([\w-]+)"', await text(client, "/queues?sort=-name"))

    assert roads[:2] == waiting == ["chat-70b", "whisper-l3"]
    assert by_name == sorted(roads, reverse=True)
    assert "No queue matches" in await text(client, "/queues?q=nobody")


async def test_where_requests_pass_by_the_page_says_that_nobody_counts(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    client = await aiohttp_client(make_app(replace(state, door=FrontDoor())))

    page = await text(client)

    assert "Requests reach the engines past this daemon" in page
    assert "serve --gateway" in page
    assert "No front door of this daemon" in lane(page, "chat-70b-low")
    assert "counted since" not in page
