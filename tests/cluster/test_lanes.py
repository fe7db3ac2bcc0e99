"""Flipping lanes on a real API server: one wins, never two lanes at once (behaviour R5)."""

import asyncio

import pytest

from controlplane.domain import marks
from controlplane.domain.actions import Lend, SetLane, SetReplicas, Sleep, Wake, WarmUp
from controlplane.domain.decisions import DONE, Ending
from controlplane.domain.replicas import Lane, Replica
from controlplane.ports import EngineState
from tests.cluster.api import Api
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.writer import CHAT, T4, Writer, up, writer


async def grown(by: Writer, nodes: Nodes, count: int = 1) -> list[Replica]:
    await nodes.add("T4")
    await by.view(lambda view: view.nodes)
    assert await by.cluster.apply(SetReplicas(CHAT, T4, count)) == DONE
    return await by.replicas(up(count))


def to(lane: Lane, replica: Replica) -> SetLane:
    return SetLane(replica=replica.name, lane=lane, version=replica.version)


async def test_a_flip_moves_the_endpoint_and_notes_since_when_and_what_it_costs(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        (one,) = await grown(by, nodes)

        assert await by.cluster.apply(to(Lane.SERVING, one)) == DONE

        (served,) = await by.replicas(lambda all_of: all_of[0].lane is Lane.SERVING)
        pod = await api.get(f"/api/v1/namespaces/{namespace}/pods/{one.name}")
        assert pod["metadata"]["labels"][marks.LANE] == "serving"
        assert pod["metadata"]["annotations"][marks.DELETION_COST] == "1000"
        assert pod["metadata"]["annotations"][marks.WARMED_UP]
        assert served.lane_since > one.lane_since
        assert served.version > one.version


async def test_promotion_and_a_change_by_another_meet_and_one_wins(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    """Behaviour R5."""
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        (one,) = await grown(by, nodes)

        outcomes = await asyncio.gather(
            by.cluster.apply(to(Lane.SERVING, one)), by.cluster.apply(to(Lane.DRAINING, one))
        )

        assert sorted(outcome.ending for outcome in outcomes) == [Ending.DONE, Ending.REFUSED]
        won = Lane.SERVING if outcomes[0] == DONE else Lane.DRAINING
        pod = await api.get(f"/api/v1/namespaces/{namespace}/pods/{one.name}")
        assert pod["metadata"]["labels"][marks.LANE] == won.value


async def test_a_pod_that_somebody_wrote_meanwhile_is_flipped_in_the_next_cycle(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    """Behaviour R5."""
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        (one,) = await grown(by, nodes)
        path = f"/api/v1/namespaces/{namespace}/pods/{one.name}"
        await api.patch(path, {"metadata": {"annotations": {"somebody": "was here"}}})

        lost = await by.cluster.apply(to(Lane.SERVING, one))
        (again,) = await by.replicas(lambda all_of: all_of[0].version > one.version)
        won = await by.cluster.apply(to(Lane.SERVING, again))

        assert lost.ending is Ending.REFUSED
        assert one.name in lost.note
        assert won == DONE


async def test_what_drains_comes_back_to_no_lane(
    cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        (one,) = await grown(by, nodes)
        await by.cluster.apply(to(Lane.DRAINING, one))
        (drains,) = await by.replicas(lambda all_of: all_of[0].lane is Lane.DRAINING)

        outcome = await by.cluster.apply(to(Lane.SERVING, drains))

        assert outcome.note == f"{one.name} drains and comes back to no lane"


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (EngineState(at=0.0, healthy=True), "has not answered its warm-up batch"),
        (
            EngineState(at=0.0, healthy=False, why="503", warmed_up=True),
            "is not healthy: 503",
        ),
        (EngineState(at=0.0, healthy=True, warmed_up=True, sleeping=True), "is asleep"),
    ],
)
async def test_no_traffic_before_a_real_answer(
    cluster: Cluster, namespace: str, nodes: Nodes, state: EngineState, why: str
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        (one,) = await grown(by, nodes)
        by.engines.states[one.name] = state

        outcome = await by.cluster.apply(to(Lane.SERVING, one))

        assert outcome.ending is Ending.REFUSED
        assert why in outcome.note


async def test_spares_lend_sleep_and_wake_and_promotion_ends_it(
    cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        (one,) = await grown(by, nodes)
        await by.cluster.apply(WarmUp(replica=one.name, requests=7))
        await by.cluster.apply(to(Lane.WARM, one))
        await by.cluster.apply(Lend(replica=one.name, slots=2))
        (lends,) = await by.replicas(lambda all_of: all_of[0].lent_slots == 2)
        await by.cluster.apply(Sleep(replica=one.name))
        await by.cluster.apply(Wake(replica=one.name))
        (awake,) = await by.replicas(lambda all_of: all_of[0].version > lends.version + 1)
        await by.cluster.apply(to(Lane.SERVING, awake))

        (serves,) = await by.replicas(lambda all_of: all_of[0].lane is Lane.SERVING)
        assert [what for what, _ in by.engines.asked] == ["warm-up 7", "sleep", "wake"]
        assert serves.lent_slots == 0


async def test_who_does_not_lead_writes_nothing(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    """Behaviour T4."""
    async with writer(cluster.admin_kubeconfig, namespace) as by:
        (one,) = await grown(by, nodes)
        by.reign.leading, by.reign.leader = False, "the other"
        everything = (
            to(Lane.SERVING, one),
            SetReplicas(CHAT, T4, 3, victims=(one.name,)),
            WarmUp(replica=one.name, requests=1),
            Sleep(replica=one.name),
            Wake(replica=one.name),
        )
        before = await api.get(f"/api/v1/namespaces/{namespace}/pods/{one.name}")

        outcomes = [await by.cluster.apply(action) for action in everything]

        assert {outcome.note for outcome in outcomes} == {"not the leader: the other leads"}
        after = await api.get(f"/api/v1/namespaces/{namespace}/pods/{one.name}")
        assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
