"""A real KEDA and a model that may go to zero: somebody waits at the gateway, or people hold it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest

from controlplane.clock import stopwatch
from tests.adapters.keda.asking import Keda
from tests.cluster.api import RefusedError
from tests.cluster.stage.daemon import Daemon
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.handed import (
    CLASS,
    DEPLOYMENT,
    POLLING_S,
    Handed,
    comes_to,
    let_publish,
    override,
)
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until
from tests.emulation.stand import free_port

pytestmark = [pytest.mark.keda, pytest.mark.usefixtures("keda"), pytest.mark.timeout(300)]
WITHIN_S = 15.0
BODY = {"model": "chat", "prompt": "hello", "max_tokens": 4}


@pytest.fixture
async def handed(stage: Scene) -> Handed:
    await stage.nodes.add("T4", 1, zone="z1")
    await let_publish(stage)
    fleet = fleet_text(least=0, most=2, spares=0, scaling="writer: keda")
    return Handed(stage, f"{fleet}gateway: {{trust: headers}}\n")


@asynccontextmanager
async def served(handed: Handed, port: int) -> AsyncIterator[tuple[Daemon, aiohttp.ClientSession]]:
    async with (
        handed.daemon("--gateway", f"127.0.0.1:{port}") as daemon,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as caller,
    ):
        await until(lambda: listens(caller), 60.0)
        yield daemon, caller


async def test_k6_one_who_waits_at_the_gateway_brings_the_first_replica(handed: Handed) -> None:
    async with (
        served(handed, free_port()) as (daemon, caller),
        handed.sizes() as sizes,
        handed.asking() as (keda, _),
    ):
        await comes_to(keda, 0, 60.0)
        await until(lambda: counts(daemon), 30.0)
        await sizes.reach(0, 60.0)
        await until(lambda: least(handed, 0), 30.0)
        assert not await active(keda)
        began = stopwatch()
        asking = asyncio.create_task(until_answered(caller))
        await until(lambda: active(keda), WITHIN_S)
        active_after = stopwatch() - began
        await sizes.reach(1, WITHIN_S)
        await until(lambda: least(handed, 1), 30.0)  # now KEDA may not take it, were we to go
        status = await asyncio.wait_for(asking, 60.0)

    assert active_after < POLLING_S
    assert status == 200


async def test_k4_held_at_zero_through_a_restart_then_exactly_one_resume(handed: Handed) -> None:
    port = free_port()
    async with handed.sizes() as sizes:
        async with served(handed, port) as (daemon, caller):
            assert await until_answered(caller) == 200
            await override(daemon, "pin", replicas=0)
            await override(daemon, "pause")
            await sizes.reach(0, 60.0)
        async with (
            served(handed, port) as (daemon, caller),
            handed.asking() as (keda, _),
        ):
            asking = asyncio.create_task(until_answered(caller))  # who is turned away, all along
            await comes_to(keda, 0, 60.0)
            await asyncio.sleep(WITHIN_S)
            held = list(sizes.seen)
            await override(daemon, "resume")
            await override(daemon, "unpin")
            await sizes.reach(1, 60.0)
            assert await asyncio.wait_for(asking, 60.0) == 200
            await asyncio.sleep(WITHIN_S)
            resumed = sizes.seen[len(held) :]

    assert held[-1] == 0
    assert resumed == [1]


async def active(keda: Keda) -> bool:
    return await keda.active(model="chat", class_=CLASS)


async def least(handed: Handed, count: int) -> bool:
    """Say whether KEDA is told that it may go down to so many."""
    space = handed.stage.namespace
    place = f"/apis/keda.sh/v1alpha1/namespaces/{space}/scaledobjects/{DEPLOYMENT}"
    with suppress(RefusedError):
        found: int = (await handed.stage.api.get(place))["spec"]["minReplicaCount"]
        return found == count
    return False


async def counts(daemon: Daemon) -> bool:
    told = (await daemon.get("/api/v1/models/chat/signals"))["signals"]
    return any(one["signal"] == "queue" and one["source"] == "gateway" for one in told)


async def listens(caller: aiohttp.ClientSession) -> bool:
    with suppress(aiohttp.ClientError):
        async with caller.get("/v1/models") as answer:
            return answer.status < 500
    return False


async def until_answered(caller: aiohttp.ClientSession) -> int:
    """Ask, and ask again when turned away, as a caller does."""
    while True:
        with suppress(aiohttp.ClientError):
            async with caller.post("/v1/completions", json=BODY) as answer:
                if answer.status not in {429, 502, 503}:
                    return answer.status
        await asyncio.sleep(1.0)
