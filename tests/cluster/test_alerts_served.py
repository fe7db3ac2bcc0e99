"""What a served daemon tells people about a real fleet, at a real receiver: begun, and over."""

import asyncio
import json
from contextlib import suppress
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.adapters.prometheus.server import serving
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until
from tests.emulation.stand import free_port

pytestmark = pytest.mark.timeout(300)
OPEN = "ControlplaneBreakerOpen"
BODY = {"model": "chat", "prompt": "hello", "max_tokens": 4}
BREAKER = "      breaker: {failures: 3, open_s: 2, replica_failures: null}\n      spare: {"
ALERTS = "alerts: {after_s: 0, group_wait_s: 0}\n"


async def test_a_breaker_that_opens_is_told_and_so_is_its_end(stage: Scene) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    fleet = fleet_text(slots=4, service_s=0.1, most=1, spares=0)
    fleet = fleet.replace("      spare: {", BREAKER, 1) + "gateway: {trust: headers}\n" + ALERTS
    gateway, told = f"127.0.0.1:{free_port()}", Told()

    async with (
        serving({"/hook": told.take}) as receiver,
        stage.daemon(fleet, "--mode", "act", "--gateway", gateway, "--alerts", f"{receiver}/hook"),
        stage.balancer() as balancer,
        aiohttp.ClientSession(f"http://{gateway}") as caller,
    ):
        await until(lambda: answers(caller, 200), 90.0)
        await balancer.served(1, 30.0)
        (engine,) = balancer.endpoints
        await fail(engine, error_rate=1.0)
        asking = asyncio.create_task(ask_for_ever(caller))
        await until(lambda: told.of(OPEN, "firing"), 60.0, lambda: f"{told.messages}")
        await fail(engine, error_rate=0.0)
        await until(lambda: told.of(OPEN, "resolved"), 90.0, lambda: f"{told.messages}")
        asking.cancel()

    (first, *_) = [m for m in told.messages if m["groupLabels"] == {"alertname": OPEN}]
    (alert,) = first["alerts"]
    assert alert["labels"] == {"alertname": OPEN, "model": "chat", "severity": "critical"}
    assert alert["annotations"]["summary"].startswith("the breaker of chat is open: it opened")


class Told:
    """Keeps what is posted."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    async def take(self, request: web.Request) -> web.Response:
        self.messages.append(json.loads(await request.read()))
        return web.Response()

    async def of(self, name: str, status: str) -> bool:
        wanted = ({"alertname": name}, status)
        return any((m["groupLabels"], m["status"]) == wanted for m in self.messages)


async def fail(engine: str, **faults: Any) -> None:
    """Make an engine fail, or be well again."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"http://{engine}:8000/emulation/faults", json=faults) as answer,
    ):
        assert answer.status == 200, await answer.text()


async def answers(caller: aiohttp.ClientSession, status: int) -> bool:
    with suppress(aiohttp.ClientError):
        async with caller.post("/v1/completions", json=BODY) as answer:
            return answer.status == status
    return False


async def ask_for_ever(caller: aiohttp.ClientSession) -> None:
    while True:
        await answers(caller, 200)
        await asyncio.sleep(0.1)
