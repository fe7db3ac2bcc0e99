"""The daemon's own gateway: its callers reach whoever serves, and their waiting wakes the loops."""

import asyncio
from collections import Counter
from contextlib import suppress
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
    with suppress(aiohttp.ClientConnectorError):  # it listens once a replica serves
        status, _ = await _ask(caller)
        return status == 200
    return False


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


async def test_an_isolated_model_is_refused_until_it_is_let_in_also_after_a_restart(
    stage: Scene,
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    fleet = fleet_text(slots=4, service_s=0.1, most=1) + "gateway: {trust: headers}\n"
    port = free_port()
    store = str(stage.folder / "store")
    options = ("--mode", "act", "--gateway", f"127.0.0.1:{port}", "--data", store)

    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as caller:
        async with stage.daemon(fleet, *options) as daemon:
            await until(lambda: _taken(caller), 60.0)
            await _set(daemon, verb="isolate", reason="corrupt weights")
            await until(lambda: _refused(caller), 20.0)
            await until(lambda: _stands(daemon, "isolated"), 20.0)
        async with stage.daemon(fleet, *options, name="another") as daemon:
            await until(lambda: _stands(daemon, "isolated"), 60.0)
            still, _ = await _ask(caller)
            row = await _breaker(daemon)
            changes = await daemon.get("/api/v1/decisions?loop=breakers")
            shown = await daemon.get(f"/api/v1/decisions/{row['last']['id']}")
            await _set(daemon, verb="rejoin")
            await until(lambda: _taken(caller), 20.0)

    assert still == 503
    assert row["isolated_why"] == "corrupt weights"
    # It was not isolated anew: where it stood was remembered.
    assert [change["reason"]["code"] for change in changes["rows"]] == ["Isolated"]
    assert shown["replay"] == "identical"


async def _set(daemon: Daemon, **body: str) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{daemon.url}/api/v1/overrides/chat", json=body) as answer,
    ):
        assert answer.status == 200, await answer.text()


async def _breaker(daemon: Daemon) -> Any:
    (row,) = await daemon.get("/api/v1/breakers?model=chat")
    return row


async def _stands(daemon: Daemon, state: str) -> bool:
    return bool((await _breaker(daemon))["state"] == state)


async def _refused(caller: aiohttp.ClientSession) -> bool:
    status, _ = await _ask(caller)
    return status == 503
