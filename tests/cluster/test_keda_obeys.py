"""A real KEDA and its HPA obey a served daemon: load, our value, HPA, replicas, and back."""

import asyncio

import pytest

from controlplane.clock import stopwatch
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.handed import CLASS, Handed, comes_to, let_publish
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.streams import TOKENS, stream

pytestmark = [pytest.mark.keda, pytest.mark.usefixtures("keda"), pytest.mark.timeout(300)]
WITHIN_S = 15.0  # from what we say to what stands, at an HPA period of 3 s
REST, BUSY = 2, 3  # replicas, the spare included
PER_S = 14.0  # requests: 5.6 busy slots, of the 4 of one replica


@pytest.fixture
async def handed(stage: Scene) -> Handed:
    await stage.nodes.add("T4", 2, zone="z1")
    await let_publish(stage)
    fleet = fleet_text(slots=4, service_s=0.4, most=2, scaling="writer: keda")
    return Handed(stage, fleet)


async def test_load_becomes_replicas_and_they_go_again_without_cutting_a_stream(
    handed: Handed,
) -> None:
    lanes = handed.stage.lanes
    async with (
        handed.daemon(),
        handed.sizes() as sizes,
        handed.asking() as (keda, _),
        handed.stage.balancer() as balancer,
    ):
        await sizes.reach(REST, 90.0)
        await lanes.settle(serving=1, warm=1)
        await balancer.served(1, 20.0)

        burst, began = asyncio.create_task(balancer.load(PER_S, 15.0)), stopwatch()
        await comes_to(keda, BUSY, WITHIN_S)
        said_after = stopwatch() - began
        up = await sizes.reach(BUSY, 40.0)
        await lanes.settle(40.0, serving=2, warm=1)
        await burst
        streams = [
            asyncio.create_task(stream(f"http://{where}:8000")) for where in balancer.endpoints
        ]
        await comes_to(keda, REST, 90.0)
        down = await sizes.reach(REST, 40.0)
        await lanes.settle(60.0, serving=1, warm=1)
        tokens = await asyncio.gather(*streams)

    assert said_after + up < WITHIN_S, (said_after, up)
    assert down < WITHIN_S, down
    assert tokens == [TOKENS, TOKENS]
    assert set(balancer.endings) == {"200"}


async def test_a_restart_under_keda_takes_no_replica_away_for_a_moment(handed: Handed) -> None:
    async with handed.sizes() as sizes, handed.stage.balancer() as balancer:
        async with handed.daemon() as daemon:
            await sizes.reach(REST, 90.0)
            await balancer.served(1, 60.0)
            load = asyncio.create_task(balancer.load(PER_S, 120.0))
            await sizes.reach(BUSY, 60.0)
            await daemon.kill()
        await asyncio.sleep(10.0)  # KEDA and the HPA ask in vain, several times
        async with handed.daemon() as daemon, handed.asking() as (keda, _):
            await comes_to(keda, BUSY, 60.0)
            await asyncio.sleep(10.0)
            load.cancel()
            since = sizes.seen[sizes.seen.index(BUSY) :]

    assert since == [BUSY]
    assert set(balancer.endings) == {"200"}


async def test_what_an_hpa_reads_is_what_we_say_whichever_number_keda_takes(
    handed: Handed,
) -> None:
    """2.21 takes the float; one before 2.17 knows the whole number alone."""
    async with (
        handed.daemon(),
        handed.sizes() as sizes,
        handed.asking() as (keda, older),
        handed.stage.balancer() as balancer,
    ):
        read = []

        async def look(wanted: int) -> None:
            await comes_to(keda, wanted, 60.0)
            whole, as_float = await keda.value(model="chat", class_=CLASS, metric="target")
            old = await older.value(**{"model": "chat", "class": CLASS})
            read.append((wanted, await handed.external(), as_float, whole, old))

        await sizes.reach(REST, 90.0)
        await balancer.served(1, 60.0)
        await look(REST)
        load = asyncio.create_task(balancer.load(PER_S, 60.0))
        await look(BUSY)
        load.cancel()

    assert read == [(x, x, x, x, x) for x in (REST, BUSY)]
