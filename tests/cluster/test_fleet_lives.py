"""A fleet on real Kubernetes: up, a burst, a fall without a cut stream, rotation."""

import asyncio

import pytest

from tests.cluster.audit import Audit
from tests.cluster.stage.balancer import Balancer
from tests.cluster.stage.daemon import pin
from tests.cluster.stage.faults import fault
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.streams import TOKENS, stream
from tests.cluster.stage.waiting import until

ADVISED = {"scaling", "workloads"}  # no target is in force, so none of the rest follows
WRITERS = {*ADVISED, "spare"}  # the loops whose decisions become writes
WARM_UP = 8  # generations, as the fleet file has it

pytestmark = pytest.mark.timeout(180)  # engines load, nodes fall silent, plans take their time


async def test_advisory_mode_shows_what_it_would_do_and_writes_nothing_at_all(
    stage: Scene, audit: Audit
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")

    async with stage.daemon(fleet_text(), "--log", "info") as daemon:  # advising is the default

        async def each_would_write() -> bool:
            rows = await daemon.decisions()
            return {row["loop"] for row in rows if row["ending"] == "advised"} >= ADVISED

        async def all_looked_again() -> bool:
            loops = (await daemon.get("/healthz"))["loops"]
            return all(loops[name]["cycles"] >= 2 for name in WRITERS)

        await until(each_would_write, 60.0)
        await until(all_looked_again, 60.0)
        rows = [row for row in await daemon.decisions() if row["loop"] == "scaling"]
        nodes = await daemon.get("/api/v1/nodes")

    assert (rows[-1]["target"], rows[-1]["ending"]) == (1, "advised")
    assert "T4" in {node["node_class"] for node in nodes}
    assert audit.requests(stage.account.user)
    assert audit.writes(stage.account.user) == []
    assert audit.refused(stage.account.user) == []


async def test_a_fleet_comes_up_serves_only_after_a_real_answer_and_needs_no_right_it_lacks(
    stage: Scene, audit: Audit
) -> None:
    """R1: the port opens 2 s after the pod runs; no request comes before its warm-up ended."""
    await stage.nodes.add("T4", 2, zone="z1")

    async with (
        stage.daemon(fleet_text(load_s=2.0)) as daemon,
        stage.balancer() as balancer,
        stage.histories() as seen,
    ):
        load = asyncio.create_task(balancer.load(5.0, 25.0))
        await stage.lanes.settle(serving=1, warm=1)
        await balancer.served(1, 20.0)
        await asyncio.sleep(2.0)
        load.cancel()
        codes = await daemon.codes()

    assert set(balancer.endings) <= {"200", "none"}
    assert balancer.endings["200"] > 0
    assert min(balancer.generated.values()) >= WARM_UP
    assert seen.wrong == []
    assert {"Refilled", "WarmUpStarted", "Promoted", "BecameWarm"} <= codes
    assert audit.refused(stage.account.user) == []


async def test_a_burst_is_answered_by_promotion_then_refilled_and_given_back(stage: Scene) -> None:
    await stage.nodes.add("T4", 2, zone="z1")
    fleet = fleet_text(slots=4, service_s=0.4, most=2)

    async with stage.daemon(fleet) as daemon, stage.balancer() as balancer:
        await stage.lanes.settle(serving=1, warm=1)
        await balancer.served(1, 20.0)
        burst = asyncio.create_task(balancer.load(14.0, 12.0))  # 5.6 busy slots of 4
        await balancer.served(2, 20.0)
        await stage.lanes.settle(30.0, serving=2, warm=1)
        await burst
        await stage.lanes.settle(100.0, serving=1, warm=1)
        codes = await daemon.codes()

    assert set(balancer.endings) == {"200"}
    assert min(balancer.generated.values()) >= WARM_UP
    assert {"Promoted", "Refilled"} <= codes


async def test_r3_streams_outlive_the_service_of_their_replica_and_no_new_ones_come_to_it(
    stage: Scene,
) -> None:
    """Each endpoint streams without a break while it serves, so one is cut if any can be.

    The engine is like vLLM: told to stop, it drops what it has. Only draining saves a stream.
    """
    await stage.nodes.add("T4", 1, zone="z1")
    engine = '--token-s, "0.02", --abort-on-term'  # a stream takes 4 s
    fleet = fleet_text(spares=0, most=2, engine=engine)

    async with stage.daemon(fleet) as daemon, stage.balancer() as balancer:
        await stage.lanes.settle(serving=1)
        await pin(daemon, 2)
        await stage.lanes.settle(serving=2)
        await balancer.served(2, 20.0, exactly=True)
        both = sorted(balancer.endpoints)
        load = asyncio.create_task(balancer.load(2.0, 120.0))
        chains = [asyncio.create_task(streams(balancer, where)) for where in (*both, *both)]
        await asyncio.sleep(2.0)
        await pin(daemon, 1)
        await balancer.served(1, 60.0, exactly=True)
        (stays,) = balancer.endpoints
        (leaves,) = set(both) - {stays}
        reached = balancer.reached[leaves]
        await stage.lanes.until(lambda pods: len(pods) == 1, 60.0)
        load.cancel()
        balancer.endpoints = set()  # the chains end with the streams that are under way
        tokens = [count for chain in await asyncio.gather(*chains) for count in chain]

    assert set(tokens) == {TOKENS}
    assert set(balancer.endings) == {"200"}
    assert balancer.reached[leaves] == reached


async def test_a_drain_that_takes_too_long_ends_at_its_limit_and_says_so(stage: Scene) -> None:
    await stage.nodes.add("T4", 1, zone="z1")
    fleet = fleet_text(spares=0, most=2, engine="--abort-on-term").replace(
        "drain_limit_s: 40", "drain_limit_s: 6"
    )

    async with stage.daemon(fleet) as daemon, stage.balancer() as balancer:
        await stage.lanes.settle(serving=1)
        await pin(daemon, 2)
        await stage.lanes.settle(serving=2)
        await balancer.served(2, 20.0, exactly=True)
        await fault(await stage.lanes.pods("serving"), hang=True)
        for _ in range(2):  # one at each, and neither ever ends
            balancer.send()
        await pin(daemon, 1)
        await stage.lanes.until(lambda pods: len(pods) == 1, 60.0)

        async def said() -> bool:
            return "DrainDeadline" in await daemon.codes()

        await until(said, 20.0)


async def streams(balancer: Balancer, where: str) -> list[int]:
    """Stream from an endpoint, again and again, until it serves no longer; give the tokens."""
    tokens = []
    while where in balancer.endpoints:
        tokens.append(await stream(f"http://{where}:8000"))
    return tokens


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
