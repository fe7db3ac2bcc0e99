"""The live feed over HTTP: topics and fragments, resumption, slow clients, the end."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import ClientResponse, web
from pytest_aiohttp.plugin import AiohttpClient

from controlplane.http.app import make_app
from controlplane.http.feed import BROADCAST, PATIENCE_S
from controlplane.http.frame import FRAGMENTS, Fragment, Glance
from controlplane.http.state import State
from tests.http.conftest import Client, Opened

FEED = "/api/v1/feed"


@dataclass
class Event:
    name: str
    data: str
    id: str


async def next_event(response: ClientResponse, *names: str) -> Event:
    """Read up to the next event of these names."""
    fields: dict[str, list[str]] = {}
    while True:
        async with asyncio.timeout(5):
            line = (await response.content.readline()).decode().rstrip("\r\n")
        if line:
            name, _, value = line.partition(": ")
            fields.setdefault(name.rstrip(":"), []).append(value)
            continue
        event = fields.get("event", [""])[0]
        if event in names:
            return Event(event, "\n".join(fields.get("data", [])), fields.get("id", [""])[0])
        fields = {}


async def test_a_topic_is_the_read_model_as_json(client: Client) -> None:
    async with client.get(FEED, params={"topics": ",".join(TOPICS)}) as stream:
        got = [await next_event(stream, *TOPICS) for _ in TOPICS]

    assert stream.content_type == "text/event-stream"
    assert {event.name for event in got} == set(TOPICS)
    fleet = next(json.loads(event.data) for event in got if event.name == "fleet")
    assert fleet["top"]["cluster"] == "test"


TOPICS = ("fleet", "models", "queues", "breakers", "decisions", "costs", "runs")


async def test_the_stream_speaks_at_once_so_that_the_page_knows_it_lives(client: Client) -> None:
    async with client.get(FEED, params={"topics": "runs"}) as stream:
        assert (await next_event(stream, "heartbeat")).data == ""


async def test_who_comes_back_gets_only_what_changed_since(client: Client, state: State) -> None:
    async with (
        client.get(FEED, params={"topics": "runs"}) as kept,
        client.get(FEED, params={"topics": "runs"}) as lost,
    ):
        await next_event(kept, "runs")
        seen = await next_event(lost, "runs")
        lost.close()
        headers = {"Last-Event-ID": seen.id}
        async with client.get(FEED, params={"topics": "runs"}, headers=headers) as back:
            await next_event(back, "heartbeat")
            await state.whatif.start("seed-000", "controlplane", 1)

            again = await next_event(back, "runs")

    assert seen.data == "[]"
    assert len(json.loads(again.data)) == 1
    assert again.id != seen.id


async def test_who_comes_new_is_shown_nothing_older_than_the_page(
    client: Client, state: State
) -> None:
    async with client.get(FEED, params={"topics": "runs"}) as other:
        assert (await next_event(other, "runs")).data == "[]"
        await state.whatif.start("seed-000", "controlplane", 1)

        async with client.get(FEED, params={"topics": "runs"}) as new:
            first = await next_event(new, "runs")

    assert len(json.loads(first.data)) == 1


async def test_an_id_of_another_process_means_nothing(client: Client) -> None:
    headers = {"Last-Event-ID": "dead-99999"}

    async with client.get(FEED, params={"topics": "runs"}, headers=headers) as stream:
        assert (await next_event(stream, "runs")).data == "[]"


async def test_a_page_follows_its_own_fragments(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    client = await aiohttp_client(make_app(state, pages=lambda app: _add(app, {"pools": _shown})))
    params = {"events": "pools", "team": "text"}

    async with client.get(FEED, params=params, headers={"Accept-Language": "zh"}) as stream:
        event = await next_event(stream, "pools")

    assert event.data == "<p>test zh operator\ntext</p>"


async def _shown(state: State, glance: Glance) -> str:
    return f"<p>{state.cluster} {glance.language} {glance.role}\n{glance.get('team')}</p>"


def _add(app: web.Application, fragments: Mapping[str, Fragment]) -> None:
    app[FRAGMENTS] = fragments


async def test_it_ends_when_the_daemon_ends(opened: Opened, state: State) -> None:
    client = await opened(state)

    async with client.get(FEED, params={"topics": "runs"}) as stream:
        await next_event(stream, "runs")
        assert client.app is not None
        client.app[BROADCAST].close()
        async with asyncio.timeout(5):
            rest = await stream.content.read()

    assert b"event: runs" not in rest


async def test_a_closed_page_is_no_longer_computed_for(client: Client) -> None:
    assert client.app is not None
    broadcast = client.app[BROADCAST]
    async with client.get(FEED, params={"topics": "runs"}) as stream:
        await next_event(stream, "runs")
        assert broadcast.watchers == 1

    for _ in range(60):  # it is found out at the next tick at the latest
        if broadcast.watchers:
            await asyncio.sleep(0.05)
    assert broadcast.watchers == 0


async def test_who_does_not_read_is_dropped_and_holds_up_nobody(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    async def huge(state: State, glance: Glance) -> str:  # noqa: ARG001 - a Fragment
        return f"{asyncio.get_running_loop().time()}" + "x" * 16_000_000

    app = make_app(state, pages=lambda app: _add(app, {"huge": huge}))
    app[PATIENCE_S] = 0.2
    client = await aiohttp_client(app)
    _, writer = await asyncio.open_connection(client.host, client.port)
    request = f"GET {FEED}?events=huge HTTP/1.1\r\nHost: localhost\r\n\r\n"
    writer.write(request.encode())
    async with client.get(FEED, params={"topics": "runs"}) as stream:
        await next_event(stream, "runs")
        metrics = ""
        for _ in range(50):
            metrics = await (await client.get("/metrics")).text()
            if "feed_dropped_total 1.0" not in metrics:
                await asyncio.sleep(0.1)
    writer.close()

    assert "feed_dropped_total 1.0" in metrics
