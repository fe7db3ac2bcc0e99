"""What it costs to outlive a zone is a line on the model's page, where the policy asks for it."""

from dataclasses import replace

from pytest_aiohttp.plugin import AiohttpClient

from controlplane.http.app import make_app
from controlplane.http.reads.detail import model_detail
from controlplane.http.state import State
from tests.builders import CHAT

MARGIN = 2


def surviving(state: State) -> State:
    """Let the chat model's policy ask for it, and scaling keep two more for it."""
    catalogue = state.in_force.catalogue
    chat = catalogue.models[CHAT]
    scaling = replace(chat.policy.scaling, survive_zone=True)
    model = replace(chat, policy=replace(chat.policy, scaling=scaling))
    state.in_force.catalogue = replace(catalogue, models={**catalogue.models, CHAT: model})
    state.history.zone_margins = {CHAT: MARGIN}
    return state


async def test_its_replicas_and_their_price_are_told(state: State) -> None:
    detail = await model_detail(surviving(state), CHAT)

    assert detail is not None
    assert detail.zone_margin == MARGIN
    assert detail.zone_margin_micros_per_hour == MARGIN * 3_000_000


async def test_the_page_has_the_line_only_where_it_is_asked_for(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    client = await aiohttp_client(make_app(state))
    without = await (await client.get(f"/models/{CHAT}")).text()
    surviving(state)
    state.shared.forget(f"model:{CHAT}")
    text = await (await client.get(f"/models/{CHAT}")).text()

    assert "to outlive a zone" not in without
    assert "to outlive a zone" in text
    assert "2 more" in text
