"""A daemon that listens for KEDA keeps the ScaledObjects of the models that are left to it."""

import asyncio
import json
from pathlib import Path
from typing import Any

from grpc import aio

from tests.adapters.keda.asking import Keda
from tests.cluster.api import RefusedError
from tests.cluster.audit import Audit
from tests.cluster.manifests import define
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.handed import CLASS, Handed, comes_to, let_publish, override
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until
from tests.emulation.stand import free_port

DEAD = "http://127.0.0.1:9"
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
        await let_publish(stage)
        await until(lambda: _published(stage, paused=False), 45.0)
        await override(daemon, "pause")
        await until(lambda: _published(stage, paused=True), 30.0)


async def test_k1_with_the_api_server_and_prometheus_down_keda_is_answered_all_the_same(
    stage: Scene,
) -> None:
    await stage.nodes.add("T4", 1)
    handed = Handed(stage, fleet_text(scaling="writer: keda"))

    async with (
        handed.daemon("--prometheus", DEAD),
        aio.insecure_channel(handed.scaler) as channel,
    ):
        keda = Keda(channel)
        await comes_to(keda, 2, 60.0)  # the least and its spare
        await stage.cluster.stop_api_server()
        try:
            specs = {await keda.spec(model="chat", class_=CLASS) for _ in range(100)}
            value = await keda.value(model="chat", class_=CLASS, metric="target")
            active = await keda.active(model="chat", class_=CLASS)
        finally:
            await stage.cluster.start_api_server()

    assert specs == {("target", 1, 1.0)}
    assert (value, active) == ((2, 2.0), True)


async def test_k2_nothing_is_published_before_the_port_has_answered_itself(
    stage: Scene, audit: Audit
) -> None:
    await define(stage.api, "keda")
    await let_publish(stage)
    await stage.nodes.add("T4", 1)

    async with Handed(stage, fleet_text(scaling="writer: keda")).daemon() as daemon:
        await until(lambda: _published(stage, paused=False), 45.0)
        answered = await _when(daemon.log, "the external scaler answers")

    of_ours = audit.requests(stage.account.user)
    writes = [r for r in of_ours if r.writes and r.object_ref.resource == "scaledobjects"]
    assert {write.object_ref.name for write in writes} == NAMES
    assert answered < min(write.request_received_timestamp for write in writes)


async def _when(log: Path, event: str) -> str:
    """Give the time at which something was logged."""
    lines = (await asyncio.to_thread(log.read_text, "utf-8")).splitlines()
    told = [json.loads(line) for line in lines if line.startswith("{")]
    return next(str(line["timestamp"]) for line in told if line["event"] == event)


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
