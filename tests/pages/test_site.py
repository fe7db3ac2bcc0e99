"""Pages over HTTP: what they say, what they keep to themselves, what they do."""

import html
import re
from dataclasses import replace

import msgspec
import pytest
from pytest_aiohttp.plugin import AiohttpClient

from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import NodeName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.samples import Absence, NoData
from controlplane.http.app import make_app
from controlplane.http.door import FrontDoor
from controlplane.http.pages.fleet import NODES
from controlplane.http.state import CatalogueInForce, State
from controlplane.loops.in_memory import MemoryJournal
from controlplane.telemetry.history import History
from tests.pages.conftest import Client

HTML = {"Accept": "text/html"}


async def text(client: Client, address: str, status: int = 200, **headers: str) -> str:
    answer = await client.get(address, headers={**HTML, **headers}, allow_redirects=False)
    assert answer.status == status, address
    return await answer.text()


async def test_the_first_page_answers_first(client: Client) -> None:
    page = await text(client, "/")

    heading = re.search(r"<h1>(.*?)</h1>", page)
    assert heading
    assert "attention" in heading[1]
    assert page.index("<h1>") < page.index('<svg class="cells') < page.index("<table")


async def test_every_model_and_node_is_named_in_words_too(client: Client, state: State) -> None:
    page = await text(client, "/")

    for name in state.in_force.catalogue.models:
        assert f'href="/models/{name}"' in page
    assert 'aria-label="a100-80g-a-0, zone-a: 8 chat-70b"' in page


async def test_a_decision_says_how_it_came_about_and_that_it_replays(client: Client) -> None:
    listed = await (await client.get("/api/v1/decisions?loop=scaling&moved=true")).json()
    number = listed["rows"][0]["id"]

    page = await text(client, f"/decisions/{number}")

    assert "identical" in page
    assert listed["rows"][0]["reason"]["code"] in page
    trail = await text(client, f"/decisions/{number}/trail")
    assert '<ol class="ladder">' in trail
    assert "<html" not in trail


async def test_the_help_page_explains_every_code(client: Client) -> None:
    page = await text(client, "/help")

    for code in ReasonCode:
        assert f'id="{code}"' in page


async def test_costs_are_shown_adding_up(client: Client) -> None:
    page = await text(client, "/costs?by=model")

    assert "adds up to the last millionth" in page
    total, bill = re.findall(r"<b>(¥[^<]*)</b></td></tr>", page)[-2:]
    assert total == bill


async def test_the_raw_costs_are_those_of_the_page_and_every_link_to_them_leads_somewhere(
    client: Client,
) -> None:
    page = await text(client, "/costs?by=model&range=30d")

    links = [
        html.unescape(link) for link in re.findall(r'href="(/api/v1/(?:costs|ledger)[^"]*)"', page)
    ]
    assert len(links) == 3
    for link in links:
        assert (await client.get(link)).status == 200
        days = (
            float(re.findall(r"end=(\d+)", link)[0]) - float(re.findall(r"start=(\d+)", link)[0])
        ) / 86_400
        assert 29 < days <= 30


async def test_the_usual_scenario_is_chosen_until_something_was_run(client: Client) -> None:
    page = await text(client, "/what-if")

    assert re.findall(r'<option value="([^"]*)"[^>]* selected>', page) == ["seed-000"]


async def test_a_cluster_that_hides_its_nodes_is_said_to(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    """P1: a node list that is forbidden is no empty fleet."""
    history = History()
    history.view = FleetView(at=state.clock.now(), nodes=NoData(Absence.FORBIDDEN), replicas=())
    client = await aiohttp_client(make_app(replace(state, history=history)))

    page = await text(client, "/")

    assert "The nodes are not known" in page
    assert "Access to the source is forbidden." in page
    assert ">0<" not in page.split("sums")[1].split("</dl>")[0]


async def test_a_daemon_that_saw_nothing_yet_says_so(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    fresh = replace(state, history=History(), decisions=MemoryJournal(), door=FrontDoor())
    client = await aiohttp_client(make_app(fresh))

    page = await text(client, "/")

    assert "Waiting for the first look at the cluster" in page
    assert "no data yet" in page
    for address in ("/models", "/models/sdxl", "/queues", "/costs"):
        await text(client, address)


async def test_a_refused_fleet_file_is_said_on_every_page(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    held = state.in_force
    refused = CatalogueInForce(
        held.catalogue, held.version, ("fleet.yaml:3: models: {}: is empty",), state.clock.now()
    )
    client = await aiohttp_client(make_app(replace(state, in_force=refused)))

    for address in ("/", "/models", "/decisions", "/settings"):
        assert "fleet.yaml:3" in await text(client, address)


async def test_a_large_fleet_is_drawn_in_part_and_says_how_much_is_left(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    view = state.history.view
    assert view is not None
    assert not isinstance(view.nodes, NoData)
    more = tuple(
        msgspec.structs.replace(view.nodes[2], name=NodeName(f"t4-x-{index}"))
        for index in range(200)
    )
    history = History()
    history.view = msgspec.structs.replace(view, nodes=(*view.nodes, *more))
    client = await aiohttp_client(make_app(replace(state, history=history)))

    page = await text(client, "/")
    whole = await text(client, "/?pool=T4")

    assert page.count('id="node-t4') == NODES
    assert "and 181 more nodes" in page
    assert whole.count('id="node-t4') == 205
    assert "node-a100" not in whole


async def test_a_stranger_sees_nothing_of_the_fleet(client: Client, state: State) -> None:
    """A page elsewhere whose name points at us reads the error page, and nothing in it."""
    page = await text(client, "/", 403, Host="evil.example")

    assert state.cluster not in page
    assert "chat-70b" not in page
    assert "data-feed" not in page


async def test_an_address_without_anything_is_an_honest_page(client: Client) -> None:
    assert "There is nothing at this address." in await text(client, "/nowhere", 404)
    assert "nobody" in await text(client, "/models/nobody", 404)
    assert "whole number" in await text(client, "/decisions/abc", 400)


@pytest.mark.parametrize(
    "elsewhere", ["//evil.example", "https://evil.example/", "/\\evil.example"]
)
async def test_a_choice_leads_back_to_us_and_nowhere_else(client: Client, elsewhere: str) -> None:
    answer = await client.get(
        "/preferences/theme/dark", params={"next": elsewhere}, allow_redirects=False
    )

    assert answer.status == 303
    assert answer.headers["Location"] == "/"
    assert "theme=dark" in answer.headers["Set-Cookie"]


async def test_a_choice_nobody_offers_is_refused(client: Client) -> None:
    assert (await client.get("/preferences/theme/pink")).status == 400
    assert (await client.get("/preferences/shoes/8")).status == 400


async def test_the_page_forbids_what_it_does_not_need(client: Client) -> None:
    answer = await client.get("/", headers=HTML)

    policy = answer.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_pausing_by_a_form_is_noted_with_who_did_it(client: Client, state: State) -> None:
    answer = await client.post(
        "/overrides/sdxl/pause", data={"next": "/models/sdxl"}, allow_redirects=False
    )

    assert (answer.status, answer.headers["Location"]) == (303, "/models/sdxl")
    held = (await state.overrides.overrides())["sdxl"]
    assert (held.paused, held.by) == (True, "local")
    assert (await state.audit.entries())[0].what == "pause"
    assert "paused" in await text(client, "/models/sdxl")


async def test_a_pin_outside_its_bounds_is_refused_and_changes_nothing(
    client: Client, state: State
) -> None:
    answer = await client.post("/overrides/sdxl/pin", data={"replicas": "99"})

    assert answer.status == 400
    assert "must be from 1 to 6" in await answer.text()
    assert await state.overrides.overrides() == {}


async def test_a_form_from_another_site_is_refused(client: Client, state: State) -> None:
    answer = await client.post(
        "/overrides/all/pause", data={}, headers={"Origin": "https://evil.example"}
    )

    assert answer.status == 403
    assert await state.overrides.overrides() == {}
