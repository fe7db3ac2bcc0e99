"""The page of breakers, and isolating a model from it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_aiohttp.plugin import AiohttpClient

from controlplane.domain.overrides import Isolation, Override
from controlplane.domain.quantities import ModelName
from controlplane.http.app import make_app
from controlplane.http.door import FrontDoor
from controlplane.http.state import State
from controlplane.ports import BreakersView, ClusterSettings
from tests.browser.nodes import NOW
from tests.pages.conftest import Client

HTML = {"Accept": "text/html"}
CHAT = "chat-70b"


class ByHandAlone:
    """A door that counts no failures, as the simulated world's."""

    async def breakers(self) -> BreakersView | None:
        return BreakersView(at=NOW, counts=False, states={})

    async def ejected(self) -> Mapping[ModelName, int] | None:
        return None

    async def settings(self, model: ModelName) -> Sequence[ClusterSettings] | None:
        del model
        return None


async def text(client: Client, address: str = "/breakers") -> str:
    answer = await client.get(address, headers=HTML)
    assert answer.status == 200
    return (await answer.text()).replace("\u00a0", " ")


def row(page: str, model: str) -> str:
    found = re.search(rf'<tr id="breaker-{model}"[^>]*>(.*?)</tr>', page, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]+>", " ", found[1]).split())


async def test_what_refuses_requests_comes_first_with_what_comes_next(client: Client) -> None:
    page = await text(client)

    assert "<h1>2 breakers are open: whisper-l3, sdxl-ft</h1>" in page
    assert re.findall(r'id="breaker-([\w-]+)"', page)[:2] == ["whisper-l3", "sdxl-ft"]
    assert "one request probes it at 12:04:57" in row(page, "whisper-l3")
    assert "opened 2 times since it was closed" in row(page, "whisper-l3")
    assert "a good answer closes it" in row(page, "sdxl-ft")
    assert "3 of 5" in row(page, "legal-ft")
    assert "2 more in a row open it for 30 s" in row(page, "legal-ft")
    assert "1 of 1" in row(page, CHAT)  # a replica is left alone


async def test_the_last_change_leads_to_a_decision_that_replays(client: Client) -> None:
    found = re.search(r'<a class="decided" href="(/decisions/\d+)">', await text(client))
    assert found

    page = await text(client, found[1])

    assert "whisper-l3: the probe failed too, so it is left alone for 60 s." in page
    assert "identical" in page


async def test_a_model_is_isolated_by_a_button_and_let_in_again(client: Client) -> None:
    page = await text(client)
    assert f'href="/overrides/{CHAT}/isolate?next=/breakers"' in page
    sheet = await text(client, f"/overrides/{CHAT}/isolate?next=/breakers")
    assert "requests that would be refused" in sheet
    origin = {"Origin": f"http://{client.host}:{client.port}"}

    done = await client.post(
        f"/overrides/{CHAT}/isolate",
        data={"reason": "corrupt weights", "next": "/breakers"},
        headers=origin,
        allow_redirects=False,
    )
    after = await text(client)
    of_model = await text(client, f"/models/{CHAT}")
    sheet = await text(client, f"/overrides/{CHAT}/rejoin?next=/breakers")
    await client.post(f"/overrides/{CHAT}/rejoin", data={"next": "/breakers"}, headers=origin)

    assert (done.status, done.headers["Location"]) == (303, "/breakers")
    assert "until a person lets it in" in row(after, CHAT)
    assert "corrupt weights" in row(after, CHAT)
    assert "isolated by local" in of_model
    assert "corrupt weights" in sheet
    assert "until a person lets it in" not in row(await text(client), CHAT)


async def test_a_reason_too_long_is_refused_in_one_sentence(client: Client) -> None:
    origin = {"Origin": f"http://{client.host}:{client.port}"}
    answer = await client.post(
        f"/overrides/{CHAT}/isolate", data={"reason": "x" * 201}, headers={**HTML, **origin}
    )

    assert answer.status == 400
    assert "must have at most 200 characters" in await answer.text()


async def test_without_a_door_nothing_is_invented_and_what_people_isolated_is_shown(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    out = Isolation(by="mei", at=NOW - 60.0, why="corrupt weights")
    await state.overrides.put(Override(subject=CHAT, isolated=out, by="mei", at=NOW))
    client = await aiohttp_client(make_app(replace(state, door=FrontDoor())))

    page = await text(client)

    assert "One model is isolated: chat-70b" in page
    assert "it runs no gateway" in page
    assert "isolated by mei" in row(page, CHAT)
    assert "unknown" in row(page, "whisper-l3")
    assert "0 of 5" not in page
    sheet = await text(client, f"/overrides/{CHAT}/isolate")
    assert "No requests come through this daemon" in sheet


async def test_the_simulated_world_says_that_it_counts_no_failures(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    door = FrontDoor(guards=ByHandAlone())
    client = await aiohttp_client(make_app(replace(state, door=door)))

    page = await text(client)

    assert "<h1>No breaker is open</h1>" in page
    assert "The simulated world has no broken answers to count" in page
    assert "closed" in row(page, CHAT)
    assert "0 of 5" not in page
    assert "No balancer of ours stands before it" in await text(client, f"/breakers/{CHAT}")


async def test_a_breakers_page_shows_its_changes_and_what_runs_otherwise(client: Client) -> None:
    whisper, chat = (
        await text(client, "/breakers/whisper-l3"),
        await text(client, "/breakers/chat-70b"),
    )

    assert whisper.count('<tr id="decision-') == 3
    assert "runs as rendered" in whisper
    assert "runs otherwise" in chat
    assert '<span class="removed">- &#34;connect_timeout&#34;: &#34;5s&#34;' in chat
    assert (await client.get("/breakers/nobody", headers=HTML)).status == 404
