"""What goes wrong: pods, nodes, zones, memory (R4), and how the cluster puts it right."""

import pytest

from controlplane.domain.actions import SetReplicas
from controlplane.domain.catalogue import KvCache
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import NodeName, Zone
from controlplane.domain.replicas import Lane, Phase
from controlplane.domain.samples import Value
from controlplane.simulation.world import NodeDies, NodeReturns, PodFails, ZoneDies
from tests.simulation.world.fleets import (
    CHAT,
    GPU,
    START,
    Rows,
    a_catalogue,
    a_model,
    a_world,
    pass_to,
    replicas,
)

STREAMS = [(0.0, 0, 1000.0)] * 4


def test_a_failed_pod_is_listed_with_its_note_and_replaced_at_once() -> None:
    world = a_world(STREAMS, serving=2, faults=(PodFails(START + 10, CHAT),))
    pass_to(world, 11.0)
    pods = replicas(world)

    assert [(p.phase, p.note) for p in pods if p.phase is Phase.FAILED] == [(Phase.FAILED, "Error")]
    assert sum(p.present for p in pods) == 2
    high = world.tally(CHAT).classes[Priority.HIGH]
    assert (high.failed, high.served) == (2, 2)
    pass_to(world, 80.0)
    assert all(p.phase is not Phase.FAILED for p in replicas(world))


def test_r4_a_silent_nodes_pods_stay_listed_but_do_not_serve() -> None:
    world = a_world(STREAMS, serving=2, faults=(NodeDies(START + 10, NodeName("gpu-z1-1")),))
    pass_to(world, 11.0)
    pods = replicas(world)

    # Both had been packed on the first node, the fullest one.
    assert [(p.lane, p.phase, p.node_ready, p.serving) for p in pods] == [
        (Lane.SERVING, Phase.RUNNING, False, False)
    ] * 2
    view = world.view()
    assert isinstance(view.nodes, tuple)
    assert [n.ready for n in view.nodes] == [False, True]
    assert world.tally(CHAT).classes[Priority.HIGH].failed == 4


def test_a_silent_nodes_pods_are_evicted_after_five_minutes_and_made_again_elsewhere() -> None:
    world = a_world(serving=2, faults=(NodeDies(START + 10, NodeName("gpu-z1-1")),))
    pass_to(world, 309.0)
    assert {str(p.node) for p in replicas(world)} == {"gpu-z1-1"}
    pass_to(world, 341.0)

    assert [(str(p.node), p.healthy) for p in replicas(world)] == [("gpu-z1-2", True)] * 2


def test_a_node_that_returns_is_empty_and_its_deployment_fills_it_again() -> None:
    fault = NodeDies(START + 10, NodeName("gpu-z1-1"))
    world = a_world(serving=2, faults=(fault,))
    world.inflict(NodeReturns(START + 60, NodeName("gpu-z1-1")))
    old = {p.name for p in replicas(world)}
    pass_to(world, 61.0)

    assert len(replicas(world)) == 2
    assert not old & {p.name for p in replicas(world)}
    assert [p.lane for p in replicas(world)] == [Lane.LOADING] * 2


def test_when_a_zone_dies_the_other_zone_goes_on() -> None:
    world = a_world(
        [(20.0, 0, 1.0), (30.0, 0, 1.0)],
        catalogue=a_catalogue(zones=("z1", "z2")),
        serving=2,
        faults=(ZoneDies(START + 10, Zone("z1")),),
    )
    pass_to(world, 40.0)

    assert sorted((str(p.zone), p.serving) for p in replicas(world)) == [
        ("z1", False),
        ("z2", True),
    ]
    assert world.tally(CHAT).classes[Priority.HIGH].served == 2


def test_what_loads_on_a_dead_node_never_comes_up() -> None:
    world = a_world(serving=1)
    world.apply(SetReplicas(CHAT, GPU, 2))
    world.inflict(NodeDies(START + 5, NodeName("gpu-z1-1")))
    pass_to(world, 100.0)

    assert not any(p.healthy for p in replicas(world) if p.lane is Lane.LOADING)


@pytest.mark.parametrize("waits", [False, True])
def test_a_prompt_over_the_kv_room_kills_its_engine(waits: bool) -> None:
    kv = KvCache(layers=2, kv_heads=2, head_dim=64, context_tokens=1000, sequences=4)
    rows = [(0.0, 0, 5.0), (0.0, 0, 5.0), (1.0 if waits else 8.0, 0, 1.0), (20.0, 0, 1.0)]
    traffic = {CHAT: Rows(rows, prompts=[10, 3999, 4001, 10])}
    world = a_world(catalogue=a_catalogue({CHAT: a_model(kv=kv)}), traffic=traffic)
    pass_to(world, 2.0)
    usage = world.observe().loads[CHAT].kv_usage
    assert usage == Value(1.0, START + 2)  # 4009 of 4000 tokens
    pass_to(world, 9.0)

    assert sorted(p.note for p in replicas(world)) == ["", "OOMKilled"]
    assert world.tally(CHAT).classes[Priority.HIGH].failed == (2 if waits else 1)
