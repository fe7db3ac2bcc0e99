"""A daemon that listens for KEDA keeps the ScaledObjects of the models that are left to it."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp

from tests.cluster.accounts import moved
from tests.cluster.api import RefusedError
from tests.cluster.manifests import define, shipped
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until
from tests.emulation.stand import free_port

HANDOVER = Path(__file__).parents[2] / "deploy" / "keda"
NAMES = {"chat-t4", "chat-a100-80g"}


async def test_scaled_objects_come_with_the_right_to_publish_them_and_pause_with_the_model(
    stage: Scene,
) -> None:
    await define(stage.api, "keda")
    await stage.nodes.add("T4", 1)
    fleet = fleet_text(scaling="writer: keda")
    scaler = f"127.0.0.1:{free_port()}"

    async with stage.daemon(fleet, "--mode", "act", "--scaler", scaler) as daemon:
        await until(lambda: _said(daemon.log, "grants it"), 30.0)
        for manifest in await shipped(stage.cluster, HANDOVER):
            if manifest["kind"] in {"Role", "RoleBinding"}:
                await stage.api.apply(moved(manifest, stage.namespace))
        await until(lambda: _published(stage, paused=False), 45.0)
        await _pause(daemon.url)
        await until(lambda: _published(stage, paused=True), 30.0)


async def _pause(url: str) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/api/v1/overrides/chat", json={"verb": "pause"}) as answer,
    ):
        assert answer.status == 200, await answer.text()


async def _said(log: Path, words: str) -> bool:
    return words in await asyncio.to_thread(log.read_text, "utf-8")


async def _published(stage: Scene, *, paused: bool) -> bool:
    place = f"/apis/keda.sh/v1alpha1/namespaces/{stage.namespace}/scaledobjects"
    try:
        found: list[dict[str, Any]] = await stage.api.items(place)
    except RefusedError:
        return False
    held = ["autoscaling.keda.sh/paused" in one["metadata"]["annotations"] for one in found]
    return {one["metadata"]["name"] for one in found} == NAMES and set(held) == {paused}
