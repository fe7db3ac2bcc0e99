"""What a fleet keeps ready on a real cluster: spares asleep, what outlives a zone, images."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from tests.cluster.described import DEDICATED
from tests.cluster.nodes import T4
from tests.cluster.stage.daemon import pin
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.lanes import node_of
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until

pytestmark = pytest.mark.timeout(240)  # engines load


async def test_a_spare_sleeps_and_a_burst_wakes_it_into_service(stage: Scene) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    fleet = fleet_text(
        slots=4, service_s=0.4, most=2, spare="kind: sleeping", engine="--may-sleep"
    ).replace("pre_stop_s: 1", "pre_stop_s: 1\n      may_sleep: true")

    async with stage.daemon(fleet) as daemon, stage.balancer() as balancer:
        await stage.lanes.settle(serving=1, warm=1)
        (spare,) = await stage.lanes.names("warm")

        async def asleep() -> bool:
            replicas = (await daemon.get("/api/v1/models/chat"))["replicas"]
            return [one["name"] for one in replicas if one["sleeping"]] == [spare]

        await until(asleep, 30.0)
        await balancer.served(1, 20.0)
        burst = asyncio.create_task(balancer.load(14.0, 12.0))
        await balancer.served(2, 20.0)
        assert spare in await stage.lanes.names("serving")
        await burst
        codes = await daemon.codes()

    assert set(balancer.endings) == {"200"}
    assert {"PutToSleep", "Woken", "Promoted"} <= codes


async def test_surviving_a_zone_keeps_enough_in_each_and_says_the_price(stage: Scene) -> None:
    here = await stage.nodes.add("T4", 1, zone="z1")
    there = await stage.nodes.add("T4", 1, zone="z2")

    async with stage.daemon(fleet_text(spares=0, scaling="survive_zone: true")) as daemon:
        await stage.lanes.settle(serving=2)
        nodes = {node_of(pod) for pod in await stage.lanes.pods("serving")}
        detail = await daemon.get("/api/v1/models/chat")

    assert nodes == {*here, *there}
    assert detail["zone_margin"] == 1
    assert detail["zone_margin_micros_per_hour"] == 530_000


@pytest.mark.parametrize(("spread", "in_service"), [("soft", 4), ("strict", 3)])
async def test_a_zone_that_is_short_leaves_nothing_pending_unless_the_spread_is_strict(
    stage: Scene, spread: str, in_service: int
) -> None:
    """The third zone's node takes nobody, so it is no place to spread to under either."""
    (small,) = await stage.nodes.add("T4", 1, zone="z1", devices=1)
    (large,) = await stage.nodes.add("T4", 1, zone="z2", devices=4)
    await stage.nodes.add(replace(T4, taints=DEDICATED), 1, zone="z3")
    fleet = fleet_text(least=4, most=4, spares=0).replace(
        "pre_pull: none", f"pre_pull: none\n      spread: {spread}"
    )

    async with stage.daemon(fleet) as daemon:
        await stage.lanes.settle(90.0, serving=in_service)
        where = Counter(node_of(pod) for pod in await stage.lanes.pods("serving"))
        notes: set[str] = set()

        async def told() -> bool:
            replicas = (await daemon.get("/api/v1/models/chat"))["replicas"]
            notes.update(one["note"] for one in replicas)
            return any("topology spread" in note for note in notes) is (spread == "strict")

        await until(told, 60.0, lambda: f"{spread}: {notes}")

    assert where == {small: 1, large: in_service - 1}


async def test_images_are_on_every_node_of_a_class_before_a_burst_needs_them(stage: Scene) -> None:
    pull_s = 40.0
    both = await stage.nodes.add("T4", 2, zone="z1", pull_s=pull_s)
    fleet = fleet_text(spares=0).replace("pre_pull: none", "pre_pull: daemon-set")

    async with stage.daemon(fleet) as daemon:

        async def everywhere() -> bool:
            found = [await stage.api.get(f"/api/v1/nodes/{name}") for name in both]
            return all("emulated:1" in str(node["status"].get("images")) for node in found)

        await until(everywhere, 120.0)
        await stage.lanes.settle(90.0, serving=1)
        (first,) = {node_of(pod) for pod in await stage.lanes.pods()}
        await pin(daemon, 5)  # more than one node has devices for
        await stage.lanes.settle(pull_s, serving=5)  # sooner than any of them could have pulled
        nodes = {node_of(pod) for pod in await stage.lanes.pods("serving")}

    assert nodes == set(both) > {first}
