"""What a fleet does when parts of it are lost: a node, a zone, an engine and what it can do."""

import pytest

from tests.cluster.nodes import T4
from tests.cluster.stage.fleet_text import fleet_text
from tests.cluster.stage.lanes import node_of
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until
from tests.cluster.workloads import answering, pod, pod_spec

pytestmark = pytest.mark.timeout(240)  # engines load, nodes fall silent, plans take their time

SILENT_AFTER_S = 60.0  # the controllers call a node silent after 20 s; a busy machine takes longer


async def test_a_dead_nodes_replicas_serve_nobody_and_grow_anew_elsewhere(stage: Scene) -> None:
    """R4: the pods of a silent node still say Running."""
    await stage.nodes.add("T4", 3, zone="z1")

    async with stage.daemon(fleet_text(least=2)) as daemon:
        await stage.lanes.settle(serving=2, warm=1)
        dead = node_of((await stage.lanes.pods("serving"))[0])
        await stage.cluster.freeze(dead)

        async def two_serve_elsewhere() -> bool:
            return sum(node_of(pod) != dead for pod in await stage.lanes.pods("serving")) == 2

        await until(two_serve_elsewhere, SILENT_AFTER_S)
        phases = [p["status"]["phase"] for p in await stage.lanes.pods() if node_of(p) == dead]
        codes = await daemon.codes()
        await stage.cluster.revive(dead)

    assert "Running" in phases
    assert "NodeSilent" in codes


@pytest.mark.parametrize("how", ["silent", "cordoned"])
async def test_a_lost_zones_replicas_grow_in_the_other_at_once(stage: Scene, how: str) -> None:
    here = await stage.nodes.add("T4", 1, zone="z1")
    there = await stage.nodes.add("T4", 2, zone="z2")

    async with stage.daemon(fleet_text(least=3)) as daemon:
        await stage.lanes.settle(serving=3, warm=1)
        assert here[0] in {node_of(pod) for pod in await stage.lanes.pods("serving")}
        if how == "silent":
            await stage.cluster.freeze(here[0])
        else:
            await stage.api.patch(f"/api/v1/nodes/{here[0]}", {"spec": {"unschedulable": True}})

        async def all_serve_there() -> bool:
            serving = [node_of(pod) for pod in await stage.lanes.pods("serving")]
            return len([node for node in serving if node in there]) == 3

        await until(all_serve_there, SILENT_AFTER_S)
        codes = await daemon.codes()
        if how == "silent":
            await stage.cluster.revive(here[0])
        else:
            await stage.lanes.until(lambda pods: all(node_of(pod) in there for pod in pods), 45.0)

    assert "ZoneLost" in codes


async def test_an_engine_out_of_memory_is_shown_as_such_and_serves_again_only_warmed_up(
    stage: Scene,
) -> None:
    await stage.nodes.add("T4", 1, zone="z1")

    async with (
        stage.daemon(fleet_text(spares=0)) as daemon,
        stage.balancer() as balancer,
        stage.histories() as seen,
    ):
        await stage.lanes.settle(serving=1)
        (name,) = await stage.lanes.names("serving")
        before = len(seen.lanes[name])
        await stage.cluster.out_of_memory(stage.namespace, name)

        async def shown() -> bool:
            listed = (await daemon.get("/api/v1/models/chat"))["replicas"]
            return any("OOMKilled" in replica["note"] for replica in listed)

        await until(shown, 30.0)

        async def out_and_back() -> bool:
            since = seen.lanes[name][before:]
            return since[:1] == ["loading"] and since[-1] == "serving"

        await until(out_and_back, 60.0, lambda: f"{seen.lanes}")
        await balancer.served(1, 20.0)
        ended = balancer.send()
        await ended
        codes = await daemon.codes()

    assert balancer.endings["200"] == 1
    assert min(balancer.generated.values()) >= 8  # of the engine that began anew
    assert "EngineRestarted" in codes


async def test_an_engine_that_is_healthy_but_cannot_generate_is_replaced_and_says_why(
    stage: Scene,
) -> None:
    """R2: /health is 200, the model is listed, and no generation ever ends."""
    await stage.nodes.add("T4", 1, zone="z1")
    fleet = fleet_text(
        spares=0, spare="load_limit_s: 20, warmup_limit_s: 5", engine="--fault, hang"
    )

    async with stage.daemon(fleet) as daemon, stage.histories() as seen:
        await stage.lanes.until(lambda pods: len(pods) == 1, 30.0)
        (first,) = [pod["metadata"]["name"] for pod in await stage.lanes.pods()]

        async def another() -> bool:
            return first not in {pod["metadata"]["name"] for pod in await stage.lanes.pods()}

        await until(another, 60.0)
        codes = await daemon.codes()

    assert "LoadTooSlow" in codes
    assert {lane for lanes in seen.lanes.values() for lane in lanes} <= {"loading", "draining"}


async def test_what_exceeds_a_class_goes_to_the_next_one(stage: Scene) -> None:
    await stage.nodes.add("T4", 1, zone="z1", devices=1)
    await stage.nodes.add("A100-80G", 1, zone="z1", devices=2)

    async with stage.daemon(fleet_text(least=2, spares=0)) as daemon:
        await stage.lanes.settle(serving=2)
        on = sorted(
            pod["metadata"]["labels"]["controlplane.dev/class"]
            for pod in await stage.lanes.pods("serving")
        )
        codes = await daemon.codes()

    assert on == ["A100-80G", "T4"]
    assert "Spilled" in codes


async def test_t6_a_class_that_stays_unschedulable_is_short_and_the_next_one_takes_over(
    stage: Scene,
) -> None:
    """A pod of another namespace, which the daemon may not see, holds the second T4."""
    (machine,) = await stage.nodes.add("T4", 1, zone="z1", devices=2)
    await stage.nodes.add("A100-80G", 1, zone="z1", devices=2)
    holding = answering(resources={"limits": {T4.resource: "1"}})
    theirs = pod("default", f"{stage.namespace}-theirs", pod_spec(machine, holding))
    await stage.api.create(theirs)
    try:
        async with stage.daemon(fleet_text(least=2, spares=0)) as daemon:
            await stage.lanes.settle(60.0, serving=2)
            on = sorted(
                one["metadata"]["labels"]["controlplane.dev/class"]
                for one in await stage.lanes.pods("serving")
            )
            codes = await daemon.codes()
    finally:
        await stage.api.remove(theirs)

    assert on == ["A100-80G", "T4"]
    assert "Spilled" in codes
