"""A follower around the leader's world and store: it shows what was decided, touches nothing."""

import asyncio

import pytest

from controlplane.decide.placement.relocate import PlacementMemory
from controlplane.loops.reconcile import reconcile
from controlplane.loops.scaling import scaling_loop
from controlplane.loops.showing import Showing
from controlplane.loops.spare import spare_loop
from controlplane.ports import DecisionQuery
from controlplane.telemetry.history import History
from tests.builders import CHAT
from tests.end_to_end.fleet import Daemon, a_small_fleet, a_world

pytestmark = pytest.mark.looptime


class Following:
    """Somebody else leads, until the test says otherwise."""

    leading, leader, term, trouble = False, "cp-0", 1, ""


async def test_a_follower_shows_target_and_replicas_and_takes_over_where_the_leader_was() -> None:
    catalogue = a_small_fleet(cold_step_share=None)
    world = a_world(catalogue)
    leader = Daemon(world, catalogue)
    await leader.run(130.0)  # in the burst
    rows = await leader.journal.decisions(DecisionQuery(limit=1_000))
    replicas = len(world.view().replicas)
    target = leader.fleet.in_force.plan[CHAT].replicas

    follower, history, reign = Daemon(world, catalogue, leader), History(), Following()
    follower.shell.leadership = reign
    showing = Showing(follower.fleet, history, follower.shell.metrics)
    scaling = scaling_loop(follower.fleet, follower.gate, PlacementMemory, lambda: None, showing)
    spare = spare_loop(follower.fleet, follower.gate)
    tasks = [
        asyncio.ensure_future(reconcile(scaling, follower.shell)),
        asyncio.ensure_future(reconcile(spare, follower.shell)),
    ]
    await asyncio.sleep(12.0)

    shown = list(history.points(CHAT))
    assert target > 2
    assert {point.target for point in shown} == {target}
    assert history.view is not None
    assert await follower.journal.decisions(DecisionQuery(limit=1_000)) == rows
    assert len(world.view().replicas) == replicas

    reign.leading = True
    await asyncio.sleep(12.0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert follower.fleet.in_force.plan[CHAT].replicas >= target
    assert len(await follower.journal.decisions(DecisionQuery(limit=1_000))) >= len(rows)
