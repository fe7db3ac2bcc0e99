"""An API server that is away for a minute, and a number that another wrote."""

import asyncio

import pytest

from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene

pytestmark = pytest.mark.timeout(300)  # engines load, nodes fall silent, plans take their time


async def test_while_the_api_server_is_away_nothing_changes_and_then_all_goes_on(
    stage: Scene,
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    fleet = fleet_text(slots=4, service_s=0.4, most=2)

    async with stage.daemon(fleet) as daemon, stage.balancer() as balancer:
        await stage.lanes.settle(serving=1, warm=1)
        await balancer.served(1, 20.0)
        before = {pod["metadata"]["uid"] for pod in await stage.lanes.pods()}
        await stage.cluster.stop_api_server()
        try:
            await balancer.load(2.0, 60.0)
            target = await daemon.get("/api/v1/models/chat")
        finally:
            await stage.cluster.start_api_server()
        after = {pod["metadata"]["uid"] for pod in await stage.lanes.pods()}
        burst = asyncio.create_task(balancer.load(14.0, 60.0))  # until the nodes are heard again
        await balancer.served(2, 90.0)
        burst.cancel()

    # Nothing was taken away. The controllers may call the node silent for a moment, as nobody heard
    # of it for a minute, and then more is started, but the old ones serve on.
    assert before <= after
    assert target["row"]["target"] == 1
    assert set(balancer.endings) == {"200"}


async def test_what_another_writes_is_reported_and_put_right(stage: Scene) -> None:
    await stage.nodes.add("T4", 2, zone="z1")
    place = f"/apis/apps/v1/namespaces/{stage.namespace}/deployments/chat-t4"

    async with stage.daemon(fleet_text()) as daemon:
        await stage.lanes.settle(serving=1, warm=1)
        await stage.api.patch(f"{place}/scale", {"spec": {"replicas": 5}})
        await stage.api.until(place, lambda seen: seen["spec"]["replicas"] == 2, timeout_s=60)
        await stage.lanes.settle(serving=1, warm=1)
        rows = await daemon.decisions()

    assert any("Drift" in said["code"] for row in rows for said in row["trail"]) or any(
        "kubectl" in row["note"] or "replicas" in row["note"] for row in rows
    )
