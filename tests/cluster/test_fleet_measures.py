"""What engines say, fail to say, or say in old words: S5 to S8 with a daemon on a real cluster."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.cluster.stage.daemon import Daemon
from tests.cluster.stage.faults import fault
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until

pytestmark = pytest.mark.timeout(240)  # engines load, and replicas leave one after the other


@asynccontextmanager
async def waiting_at(host: str, count: int) -> AsyncIterator[None]:
    """Have requests at an engine until the block ends."""
    async with aiohttp.ClientSession() as session:
        place, body = f"http://{host}:8000/v1/completions", {"prompt": "hello", "max_tokens": 4}
        sent = [asyncio.ensure_future(_ask(session, place, body)) for _ in range(count)]
        yield
        for task in sent:
            task.cancel()
        await asyncio.gather(*sent, return_exceptions=True)


async def _ask(session: aiohttp.ClientSession, place: str, body: dict[str, object]) -> None:
    async with session.post(place, json=body) as answer:
        await answer.read()


async def override(daemon: Daemon, **wanted: Any) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{daemon.url}/api/v1/overrides/chat", json=wanted) as answer,
    ):
        answer.raise_for_status()


async def queue(daemon: Daemon) -> tuple[float | None, str | None]:
    """Give how many wait in the engines, or why that is not known."""
    row = (await daemon.get("/api/v1/models/chat"))["row"]
    (figure,) = [one["queue"] for one in row["classes"] if one["priority"] == "medium"]
    return figure["value"], figure["why"]


async def queue_is(daemon: Daemon, value: float | None, *why: str | None) -> None:
    seen: list[object] = []

    async def so() -> bool:
        seen[:] = await queue(daemon)
        return seen[0] == value and seen[1] in why

    await until(so, 20.0, lambda: f"{seen}, not {value} {why}")


async def noted(daemon: Daemon, what: str) -> None:
    """Await that every replica's line says it."""
    seen: list[str] = []

    async def said() -> bool:
        replicas = (await daemon.get("/api/v1/models/chat"))["replicas"]
        seen[:] = [one["note"] for one in replicas]
        return all(what in note for note in seen)

    await until(said, 20.0, lambda: f"{seen}, not {what}")


async def stays_two(stage: Scene) -> None:
    """Look for five times as long as a fall would have to wait."""
    with pytest.raises(AssertionError):
        await stage.lanes.settle(15.0, serving=1)
    assert await stage.lanes.count("serving") == 2


async def test_s5_an_error_or_a_page_instead_of_metrics_holds_and_what_is_zero_again_falls(
    stage: Scene,
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    fleet = fleet_text(spares=0, stabilisation_s=3.0)

    async with stage.daemon(fleet) as daemon:
        await stage.lanes.settle(serving=1)
        await override(daemon, verb="pin", replicas=2)
        await stage.lanes.settle(serving=2)
        pods = await stage.lanes.pods("serving")
        await fault(pods, metrics_status=503)  # with the body 0
        await queue_is(daemon, None, "Unreachable", "Stale")
        await noted(daemon, "/metrics answers 503")
        await override(daemon, verb="unpin")
        await stays_two(stage)
        await fault(pods, metrics_status=None, html_metrics=True)
        await noted(daemon, "<!doctype html>")
        assert await queue(daemon) in {(None, "Bad"), (None, "Stale")}
        await stays_two(stage)
        await fault(pods, html_metrics=False)
        await stage.lanes.settle(90.0, serving=1)


async def test_s6_three_of_four_speak_for_all_and_s7_who_is_gone_has_no_queue(
    stage: Scene,
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")

    async with stage.daemon(fleet_text(slots=1, least=4, most=4, spares=0)) as daemon:
        await stage.lanes.settle(90.0, serving=4)
        pods = await stage.lanes.pods("serving")
        await queue_is(daemon, 0.0, None)
        await fault(pods[:1], mute_metrics=True)

        async def flagged() -> bool:
            replicas = (await daemon.get("/api/v1/models/chat"))["replicas"]
            noted = {one["name"] for one in replicas if "did not answer" in one["note"]}
            return noted == {pods[0]["metadata"]["name"]}

        await until(flagged, 20.0)
        assert await queue(daemon) == (0.0, None)
        await fault(pods[1:3], mute_metrics=True)
        await queue_is(daemon, None, "TooFew")
        await fault(pods[:3], mute_metrics=False)
        await queue_is(daemon, 0.0, None)

        gone = pods[3]
        await fault([gone], hang=True)
        async with waiting_at(gone["status"]["podIP"], 10):
            await queue_is(daemon, 9.0, None)
            name = gone["metadata"]["name"]
            await stage.api.delete(f"/api/v1/namespaces/{stage.namespace}/pods/{name}")
            await queue_is(daemon, 0.0, None)


@pytest.mark.parametrize(
    ("engine", "value", "why"),
    [
        ("--engine, vllm", 0.0, None),
        ("--engine, vllm-old", 0.0, None),
        ("--fault, hide=cache_usage", None, "NotExported"),
    ],
)
async def test_s8_the_use_of_the_cache_is_read_by_its_new_and_its_old_name(
    stage: Scene, engine: str, value: float | None, why: str | None
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")

    async with stage.daemon(fleet_text(spares=0, engine=engine)) as daemon:
        await stage.lanes.settle(serving=1)
        told: dict[str, Any] = {}

        async def as_wished() -> bool:
            told.update((await daemon.get("/api/v1/models/chat"))["row"]["memory"])
            return (told["value"], told["why"]) == (value, why)

        await until(as_wished, 30.0, lambda: f"{told}")
