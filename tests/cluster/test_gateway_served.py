"""The daemon's own gateway: its callers reach whoever serves, and their waiting wakes the loops."""

import asyncio
from collections import Counter
from typing import Any

import aiohttp

from tests.cluster.stage.daemon import Daemon
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until
from tests.emulation.stand import free_port

ANSWERED = Counter({200: 48})


async def test_requests_pass_the_gateway_and_their_waiting_brings_a_second_replica(
    stage: Scene,
) -> None:
    await stage.nodes.add("T4", 2, zone="z1")
    fleet = fleet_text(slots=4, service_s=0.5, most=2) + "gateway: {trust: headers}\n"
    port = free_port()

    async with (
        stage.daemon(fleet, "--mode", "act", "--gateway", f"127.0.0.1:{port}") as daemon,
        stage.balancer() as balancer,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as caller,
    ):
        await stage.lanes.settle(serving=1, warm=1)
        await until(lambda: _taken(caller), 20.0)
        stranger, _ = await _ask(caller, model="unheard-of")
        answers = [asyncio.create_task(_ask(caller)) for _ in range(48)]
        await balancer.served(2, 20.0)
        ended = Counter([status for status, _ in await asyncio.gather(*answers)])
        sources = await _sources(daemon)
        await until(lambda: _admitted(daemon, 49), 20.0)
        medium = await _medium(daemon)
        figures = await _metrics(daemon)

    assert stranger == 404
    assert ended == ANSWERED
    assert sources["queue"] == "gateway"
    assert (medium["slots"], medium["ready"], medium["in_flight"]["value"]) == (8, 2, 0.0)
    assert medium["waiting"]["value"] == 0.0
    assert 'controlplane_gateway_admitted_total{model="chat",priority="medium"} 49.0' in figures


async def _ask(caller: aiohttp.ClientSession, model: str = "chat") -> tuple[int, str]:
    body = {"model": model, "prompt": "hello", "max_tokens": 4}
    said = {"X-Priority": "medium"}
    async with caller.post("/v1/completions", json=body, headers=said) as answer:
        return answer.status, await answer.text()


async def _taken(caller: aiohttp.ClientSession) -> bool:
    status, _ = await _ask(caller)
    return status == 200


async def _sources(daemon: Daemon) -> dict[str, Any]:
    told = await daemon.get("/api/v1/models/chat/signals")
    return {one["signal"]: one["source"] for one in told["signals"]}


async def _medium(daemon: Daemon) -> Any:
    told = await daemon.get("/api/v1/queues?model=chat")
    return next(row for row in told if row["priority"] == "medium")


async def _admitted(daemon: Daemon, count: int) -> bool:
    """Say whether so many were admitted in the last minute, and none is under way any more."""
    row = await _medium(daemon)
    lately_s = row["lately_s"] or 0.0
    came = (row["admitted"]["value"] or 0.0) * lately_s
    return round(came) == count and not row["in_flight"]["value"]


async def _metrics(daemon: Daemon) -> str:
    async with aiohttp.ClientSession() as session, session.get(f"{daemon.url}/metrics") as answer:
        return await answer.text()
