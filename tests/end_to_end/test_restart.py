"""A daemon that dies around a world that lives on: nothing that was decided is forgotten."""

import asyncio

import pytest

from controlplane.domain.overrides import Override
from controlplane.domain.reasons import ReasonCode
from controlplane.ports import DecisionQuery
from tests.builders import CHAT
from tests.end_to_end.fleet import Daemon, a_small_fleet, a_world

pytestmark = pytest.mark.looptime


async def targets(daemon: Daemon) -> list[tuple[float, int, int]]:
    rows = await daemon.journal.decisions(DecisionQuery(loop="scaling", limit=10_000))
    return [(row.at, row.current, row.target) for row in reversed(rows) if row.actions]


async def test_t7_a_cooldown_holds_over_a_restart_and_ends_when_it_would_have() -> None:
    catalogue = a_small_fleet(cooldown_s=200.0, stabilisation_s=0.0)

    undisturbed = Daemon(a_world(catalogue), catalogue)
    await undisturbed.run(600.0)

    world = a_world(catalogue)
    first = Daemon(world, catalogue)
    await first.run(262.0)  # the burst is over, the cooldown is not
    second = Daemon(world, catalogue, first)
    await second.run(338.0)

    falls = [line for line in await targets(undisturbed) if line[2] < line[1]]
    again = [line for line in await targets(second) if line[2] < line[1]]
    assert falls
    assert again[0][0] == pytest.approx(falls[0][0], abs=5.0)  # looks come at other moments


async def test_replicas_on_their_way_are_not_asked_for_twice_after_a_restart() -> None:
    catalogue = a_small_fleet(cold_step_share=None)
    world = a_world(catalogue)
    first = Daemon(world, catalogue)
    await first.run(120.0)  # in the burst, its replicas loading
    before = len(world.view().replicas)

    second = Daemon(world, catalogue, first)
    await second.run(30.0)

    assert before > 2
    assert len(world.view().replicas) == before


async def test_a_pause_survives_a_restart_and_nothing_is_touched() -> None:
    catalogue = a_small_fleet()
    world = a_world(catalogue)
    first = Daemon(world, catalogue)
    await first.run(50.0)
    await first.overrides.put(Override(subject="*", paused=True, by="ann", at=50.0))

    second = Daemon(world, catalogue, first)
    await second.run(250.0)
    rows = await second.journal.decisions(DecisionQuery(loop="scaling"))

    assert len(world.view().replicas) == 2
    assert rows[0].trail[-1].code is ReasonCode.PAUSED


async def test_law_3_a_daemon_killed_between_writing_and_doing_does_it_after_all() -> None:
    catalogue = a_small_fleet(cold_step_share=None)
    world = a_world(catalogue)
    first = Daemon(world, catalogue)

    async def killed(_choice: object) -> None:
        await asyncio.Event().wait()

    first.cluster.apply = killed  # type: ignore[method-assign, assignment]  # dies at its first act
    await first.run(110.0)
    assert len(world.view().replicas) == 2
    assert await first.journal.unsettled("spare")

    second = Daemon(world, catalogue, first)
    await second.run(10.0)
    rows = await second.journal.decisions(DecisionQuery(loop="spare", limit=100))

    assert len(world.view().replicas) > 2
    assert {row.subject for row in rows} == {CHAT}
    assert not await second.journal.unsettled("spare")
