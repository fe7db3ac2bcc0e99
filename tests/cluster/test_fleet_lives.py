"""A fleet on real Kubernetes: up, a burst, a fall without a cut stream, rotation."""

import asyncio

import pytest

from tests.cluster.audit import Audit
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.streams import TOKENS, stream
from tests.cluster.stage.waiting import until

pytestmark = pytest.mark.timeout(180)  # engines load, nodes fall silent, plans take their time


async def test_advisory_mode_shows_what_it_would_do_and_writes_nothing_at_all(
    stage: Scene, audit: Audit
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")

    async with stage.daemon(fleet_text(), "--log", "info") as daemon:  # advising is the default

        async def decided() -> bool:
            return bool(await daemon.decisions()) and bool(await daemon.get("/api/v1/nodes"))

        await until(decided, 30.0)
        rows = [row for row in await daemon.decisions() if row["loop"] == "scaling"]
        nodes = await daemon.get("/api/v1/nodes")

    assert (rows[-1]["target"], rows[-1]["ending"]) == (1, "advised")
    assert "T4" in {node["node_class"] for node in nodes}
    assert audit.writes(stage.account.user) == []
    assert audit.refused(stage.account.user) == []


async def test_a_fleet_comes_up_serves_only_after_a_real_answer_and_needs_no_right_it_lacks(
    stage: Scene, audit: Audit
) -> None:
    """R1: the port opens 2 s after the pod runs; no request comes before its first answer."""
    await stage.nodes.add("T4", 2, zone="z1")

    async with stage.daemon(fleet_text(load_s=2.0)) as daemon, stage.balancer() as balancer:
        load = asyncio.create_task(balancer.load(5.0, 25.0))
        await stage.lanes.settle(serving=1, warm=1)
        await balancer.served(1, 20.0)
        await asyncio.sleep(2.0)
        load.cancel()
        codes = await daemon.codes()

    assert set(balancer.endings) <= {"200", "none"}
    assert balancer.endings["200"] > 0
    assert {"Refilled", "WarmUpStarted", "Promoted", "BecameWarm"} <= codes
    assert audit.refused(stage.account.user) == []


async def test_a_burst_is_answered_by_promotion_then_refilled_and_given_back(stage: Scene) -> None:
    """R3: what leaves service when the burst is over finishes its stream."""
    await stage.nodes.add("T4", 2, zone="z1")
    fleet = fleet_text(slots=4, service_s=0.4, most=2)

    async with stage.daemon(fleet) as daemon, stage.balancer() as balancer:
        await stage.lanes.settle(serving=1, warm=1)
        await balancer.served(1, 20.0)
        burst = asyncio.create_task(balancer.load(14.0, 12.0))  # 5.6 busy slots of 4
        await balancer.served(2, 20.0)
        await stage.lanes.settle(30.0, serving=2, warm=1)
        await burst
        streams = [
            asyncio.create_task(stream(f"http://{where}:8000")) for where in balancer.endpoints
        ]
        await stage.lanes.settle(100.0, serving=1, warm=1)
        tokens = await asyncio.gather(*streams)
        codes = await daemon.codes()

    assert tokens == [TOKENS, TOKENS]
    assert set(balancer.endings) == {"200"}
    assert {"Promoted", "Refilled"} <= codes


async def test_an_old_spare_is_rotated_grown_first_then_drained(stage: Scene) -> None:
    await stage.nodes.add("T4", 2, zone="z1")

    async with stage.daemon(fleet_text(rotate_s="15.0")) as daemon:
        await stage.lanes.settle(serving=1, warm=1)
        (first,) = await stage.lanes.names("warm")
        fewest = 9

        async def gone() -> bool:
            nonlocal fewest
            warm = await stage.lanes.names("warm")
            fewest = min(fewest, len(warm))
            return first not in warm | await stage.lanes.names("draining")

        await until(gone, 60.0)
        await stage.lanes.settle(serving=1, warm=1)
        codes = await daemon.codes()

    assert fewest >= 1
    assert "Rotated" in codes
