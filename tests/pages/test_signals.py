"""A model's page says who tells each signal, and who was asked in vain."""

import re
from dataclasses import replace

from pytest_aiohttp.plugin import AiohttpClient

from controlplane.domain.quantities import ModelName
from controlplane.http.app import make_app
from controlplane.http.state import State
from controlplane.loops.sources import OrderedSignals
from tests.loops.test_sources import Fails, Says
from tests.pages.conftest import Client

MODEL = ModelName("chat-70b")
HTML = {"Accept": "text/html"}


async def test_each_signal_is_shown_with_its_source_and_who_was_passed_over(
    state: State, aiohttp_client: AiohttpClient
) -> None:
    signals = OrderedSignals(
        {"gateway": Fails(), "prometheus": Says(state.clock, 4.0, model=MODEL)},
        lambda: state.in_force.catalogue,
        state.clock,
        lambda model, signal: f"sum({signal} of {model})",
    )
    await signals.loads()
    client: Client = await aiohttp_client(make_app(replace(state, signals=signals)))

    page = await (await client.get(f"/models/{MODEL}", headers=HTML)).text()

    (row,) = re.findall(r'<tr id="signal-queue">.*?</tr>', page)
    told = " ".join(re.sub(r"<[^>]+>", " ", row).split())
    assert told.startswith("queue 4 prometheus")
    assert told.endswith("gateway : the gateway is away")
    assert f'title="sum(queue of {MODEL})"' in row


async def test_where_one_source_tells_everything_there_is_nothing_to_choose(client: Client) -> None:
    page = await (await client.get(f"/models/{MODEL}", headers=HTML)).text()

    assert 'id="signals"' not in page
