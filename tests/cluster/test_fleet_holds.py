"""An API server that is away for a minute, and a number that another wrote."""

import asyncio

import pytest

from tests.cluster.audit import Audit
from tests.cluster.nodes import is_ready
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene

HEARD_AGAIN_S = 15.0  # a kubelet reports every 10 s

pytestmark = pytest.mark.timeout(300)  # engines load, nodes fall silent, plans take their time


async def test_while_the_api_server_is_away_nothing_changes_and_then_all_goes_on(
    stage: Scene, audit: Audit
) -> None:
    (name,) = await stage.nodes.add("T4", 1, zone="z1")
    fleet = fleet_text(slots=4, service_s=0.4, most=2)

    async with stage.daemon(fleet) as daemon, stage.balancer() as balancer:
        await stage.lanes.settle(serving=1, warm=1)
        await balancer.served(1, 20.0)
        before = await _uids(stage)
        written = _resized(audit, stage)
        await stage.cluster.stop_api_server()
        try:
            await balancer.load(2.0, 60.0)
            target = await daemon.get("/api/v1/models/chat")
        finally:
            await stage.cluster.start_api_server()
        # Nobody heard of the node for a minute, so the controllers call it silent until it reports.
        await asyncio.sleep(HEARD_AGAIN_S)
        await stage.api.until(f"/api/v1/nodes/{name}", is_ready)
        await stage.lanes.settle(serving=1, warm=1)
        held = (await _uids(stage), _resized(audit, stage))
        burst = asyncio.create_task(balancer.load(14.0, 60.0))
        await balancer.served(2, 90.0)
        burst.cancel()

    assert held == (before, written)
    assert target["row"]["target"] == 1
    assert set(balancer.endings) == {"200"}


async def _uids(stage: Scene) -> set[str]:
    return {pod["metadata"]["uid"] for pod in await stage.lanes.pods()}


def _resized(audit: Audit, stage: Scene) -> list[str]:
    """Name every write of the daemon that changes how many pods there are."""
    return [
        request.what
        for request in audit.requests(stage.account.user)
        if request.writes and request.object_ref.resource in {"deployments", "pods"}
    ]


async def test_what_another_writes_is_reported_and_put_right(stage: Scene) -> None:
    await stage.nodes.add("T4", 2, zone="z1")
    place = f"/apis/apps/v1/namespaces/{stage.namespace}/deployments/chat-t4"

    async with stage.daemon(fleet_text()) as daemon:
        await stage.lanes.settle(serving=1, warm=1)
        theirs = {"spec": {"replicas": 5}}
        await stage.api.patch(f"{place}/scale", theirs, fieldManager="hasty-admin")
        await stage.api.until(place, lambda seen: seen["spec"]["replicas"] == 2, timeout_s=60)
        await stage.lanes.settle(serving=1, warm=1)
        rows = await daemon.decisions()

    (drift,) = [said for row in rows for said in row["trail"] if said["code"] == "WorkloadDrifted"]
    assert "hasty-admin" in str(drift)
    assert "spec.replicas" in str(drift)
