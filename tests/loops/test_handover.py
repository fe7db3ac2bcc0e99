"""What others are told after every look: the same from every daemon, leading or not."""

import asyncio
from dataclasses import replace

from controlplane.adapters.keda.board import Board
from controlplane.clock import Clock
from controlplane.decide.scaling.inputs import ScalingSeen
from controlplane.domain.actions import SetTarget
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.policies import SparePolicy
from controlplane.domain.quantities import NodeName, Zone
from controlplane.domain.replicas import Lane
from controlplane.loops.fleet import Fleet
from controlplane.loops.handover import Handover
from controlplane.loops.in_memory import MemoryOverrides
from controlplane.simulation.embedded import embedded
from controlplane.telemetry.metrics import Metrics
from tests.builders import (
    A100,
    CHAT,
    NOW,
    a_catalogue,
    a_class_load,
    a_load,
    a_model,
    a_policy,
    a_replica,
)

NODE = Node(name=NodeName("a100-01"), node_class=A100, zone=Zone("zone-a"), devices=32)


def a_fleet(target: int) -> Fleet:
    policy = replace(a_policy(writer="keda"), spare=SparePolicy(count=1, rotate_s=None))
    catalogue, clock = a_catalogue({CHAT: a_model(policy=policy)}), Clock()
    cluster = embedded(catalogue, clock, 1)
    fleet = Fleet(
        clock=clock,
        cluster=cluster,
        signals=cluster,
        overrides=MemoryOverrides(),
        catalogue=catalogue,
    )
    fleet.in_force.put(SetTarget(model=CHAT, replicas=target, split={A100: target}), NOW, 5)
    return fleet


def a_look(queue: float = 0.0) -> ScalingSeen:
    replicas = (a_replica("r0"), a_replica("r1"), a_replica("w0", Lane.WARM))
    view = FleetView(at=NOW, nodes=(NODE,), replicas=replicas)
    return ScalingSeen(at=NOW, view=view, loads={CHAT: a_load(a_class_load(queue=queue))})


def figure(board: Board, metric: str) -> int | None:
    entry = board.entry(CHAT, A100, metric)
    return None if entry is None else entry.x


async def test_keda_and_an_hpa_hear_the_target_and_the_spare() -> None:
    board, metrics = Board(), Metrics()
    handover = Handover(a_fleet(target=4), board.put, metrics.sizes)
    await handover.update(a_look(queue=6))

    # One of four is promoted from the spare, one more is created, and the spare is made anew.
    assert figure(board, "target") == 5
    assert figure(board, "queue") == 6
    assert figure(board, "weighted_depth") == 18
    wanted = {"model": CHAT, "node_class": A100}
    assert metrics.registry.get_sample_value("controlplane_wanted_replicas", wanted) == 5


async def test_two_daemons_that_see_the_same_say_the_same() -> None:
    boards = Board(), Board()
    for board in boards:
        await Handover(a_fleet(target=3), board.put).update(a_look(queue=2))

    assert figure(boards[0], "target") == figure(boards[1], "target") == 4


async def test_it_tells_after_every_look() -> None:
    board = Board()
    handover = Handover(a_fleet(target=3), board.put)
    running = asyncio.create_task(handover.run())
    handover.note(a_look(queue=1))
    async with asyncio.timeout(5):
        await board.news.wait()
    assert figure(board, "queue") == 1
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
