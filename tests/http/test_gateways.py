"""Where gateways join: who may, over what, and whole messages both ways."""

import asyncio

import pytest
from aiohttp import WSServerHandshakeError

from controlplane.http.access import Role
from controlplane.http.state import State
from controlplane.ports import Line
from controlplane.ports.gateways import PATH
from tests.http.conftest import Client, Opened, a_token
from tests.http.test_access import PUBLIC


class Listening:
    """Says back what it hears, and notes when the other one is gone."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def attend(self, line: Line) -> None:
        while (said := await line.hear()) is not None:
            await line.say(said[::-1])
        self.gone.set()


@pytest.fixture
def listening(state: State) -> Listening:
    state.door.gateways = made = Listening()
    return made


async def test_a_gateway_speaks_and_is_spoken_to_until_it_leaves(
    opened: Opened, state: State, listening: Listening
) -> None:
    client = await opened(state, access=PUBLIC)
    token = await a_token(state, Role.GATEWAY)

    async with client.ws_connect(PATH, headers=token) as line:
        await line.send_bytes(b"one")
        heard = await line.receive_bytes()

    assert heard == b"eno"
    async with asyncio.timeout(20):
        await listening.gone.wait()


@pytest.mark.parametrize("role", list(Role), ids=str)
async def test_a_viewer_may_not_join(
    opened: Opened, state: State, listening: Listening, role: Role
) -> None:
    client = await opened(state, access=PUBLIC)
    token = await a_token(state, role)

    try:
        async with client.ws_connect(PATH, headers=token):
            status = 101
    except WSServerHandshakeError as refused:
        status = refused.status

    assert status == (403 if role is Role.VIEWER else 101)
    assert listening.gone.is_set() == (status == 101)


async def test_a_gateways_token_joins_and_opens_nothing_else(opened: Opened, state: State) -> None:
    client = await opened(state, access=PUBLIC)
    token = await a_token(state, Role.GATEWAY)

    for path in ("/api/v1/fleet", "/api/v1/queues", "/metrics"):
        assert (await client.get(path, headers=token)).status == 403


@pytest.mark.usefixtures("listening")
async def test_no_page_joins_also_on_loopback(client: Client) -> None:
    """A browser asks no leave for a WebSocket, and the operator's loopback needs no token."""
    origin = f"http://{client.host}:{client.port}"

    with pytest.raises(WSServerHandshakeError, match="403"):
        await client.ws_connect(PATH, headers={"Origin": origin})


@pytest.mark.usefixtures("listening")
async def test_who_speaks_plain_http_is_told_what_to_speak(client: Client) -> None:
    answer = await client.get(PATH)

    assert (answer.status, answer.headers["Upgrade"]) == (426, "websocket")


async def test_where_no_gateway_has_anything_to_do_it_is_told_so(client: Client) -> None:
    answer = await client.get(PATH)

    assert answer.status == 409
    assert "none can join here" in (await answer.json())["detail"]
