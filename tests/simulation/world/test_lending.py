"""Spares that lend, replicas that change sides while they work, catalogues that change."""

from dataclasses import replace

from controlplane.domain.actions import Lend, SetLane
from controlplane.domain.decisions import Ending
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ClassName, ReplicaName
from controlplane.domain.replicas import Lane
from controlplane.domain.samples import Value
from controlplane.simulation.world import World
from tests.simulation.world.fleets import (
    CHAT,
    IMAGE,
    START,
    Rows,
    a_catalogue,
    a_model,
    a_world,
    flip,
    named,
    pass_to,
    replicas,
)


def a_world_with_a_spare(rows: list[tuple[float, int, float]]) -> World:
    """One replica serves, the second is warm; two slots each."""
    world = a_world(rows, serving=2)
    flip(world, replicas(world)[1], Lane.WARM)
    return world


def test_a_lender_serves_low_alone_on_the_slots_it_lends() -> None:
    rows = [(1.0, 2, 50.0), (2.0, 2, 50.0), (3.0, 0, 5.0), (4.0, 0, 5.0), (5.0, 0, 5.0)]
    world = a_world_with_a_spare(rows)
    spare = replicas(world)[1]
    assert world.apply(Lend(spare.name, 1)).ending is Ending.DONE
    pass_to(world, 6.0)

    # The first low on the lent slot, the second in service with one high; two high wait.
    assert named(world, spare.name).in_flight == Value(1.0, START + 6)
    assert named(world, spare.name).lane is Lane.WARM
    load = world.observe().loads[CHAT]
    assert load.classes[Priority.HIGH].queue == Value(2.0, START + 6)
    assert load.in_flight == Value(3.0, START + 6)


def test_what_a_replica_lends_is_seen_so_that_nobody_lends_it_again() -> None:
    world = a_world_with_a_spare([])
    spare = replicas(world)[1]
    world.apply(Lend(spare.name, 1))

    assert named(world, spare.name).lent_slots == 1
    world.apply(Lend(spare.name, 0))
    assert named(world, spare.name).lent_slots == 0


def test_a_promoted_lender_gives_its_free_slots_at_once_and_its_low_work_goes_on() -> None:
    rows = [(1.0, 2, 50.0)] + [(3.0, 0, 20.0)] * 4
    world = a_world_with_a_spare(rows)
    spare = replicas(world)[1]
    world.apply(Lend(spare.name, 1))
    pass_to(world, 10.0)
    flip(world, named(world, spare.name), Lane.SERVING)
    pass_to(world, 12.5)

    # 4 slots in service: low still on one, three high on the others, one high waits.
    assert world.observe().loads[CHAT].classes[Priority.HIGH].queue == Value(1.0, START + 12.5)
    pass_to(world, 60.0)
    tally = world.tally(CHAT)
    assert tally.classes[Priority.LOW].served == 1
    assert tally.classes[Priority.HIGH].served == 4
    assert tally.max_serving == 2


def test_slots_taken_back_finish_what_they_run_and_take_nothing_new() -> None:
    world = a_world_with_a_spare([(1.0, 2, 50.0), (20.0, 2, 5.0), (21.0, 2, 5.0), (22.0, 2, 5.0)])
    spare = replicas(world)[1]
    world.apply(Lend(spare.name, 2))
    pass_to(world, 10.0)
    world.apply(Lend(spare.name, 0))
    pass_to(world, 24.0)

    assert named(world, spare.name).in_flight == Value(1.0, START + 24)
    assert world.observe().loads[CHAT].classes[Priority.LOW].queue == Value(1.0, START + 24)
    pass_to(world, 80.0)
    assert world.tally(CHAT).classes[Priority.LOW].served == 4


def test_a_replica_out_of_service_and_back_while_it_works_counts_its_slots_once() -> None:
    rows = [(0.0, 0, 30.0), (0.0, 0, 30.0)] + [(12.0 + 0.01 * n, 0, 10.0) for n in range(4)]
    world = a_world(rows, serving=2)
    pass_to(world, 5.0)
    first = replicas(world)[0]
    assert first.in_flight == Value(2.0, START + 5)
    flip(world, first, Lane.WARM)
    pass_to(world, 8.0)
    flip(world, named(world, first.name), Lane.SERVING)
    pass_to(world, 15.0)
    load = world.observe().loads[CHAT]

    assert load.in_flight == Value(4.0, START + 15)
    assert load.classes[Priority.HIGH].queue == Value(2.0, START + 15)


def test_only_a_warm_replica_lends() -> None:
    world = a_world(serving=1)

    assert world.apply(Lend(replicas(world)[0].name, 1)).ending is Ending.REFUSED


def test_a_new_catalogue_changes_admission_at_once_and_what_runs_keeps_running() -> None:
    rows = [(1.0, 2, 20.0), (2.0, 2, 20.0)]
    strict = a_model(AdmissionPolicy(reserve=1))
    world = a_world(rows, a_catalogue({CHAT: strict}))
    pass_to(world, 5.0)
    assert world.observe().loads[CHAT].classes[Priority.LOW].queue == Value(1.0, START + 5)
    world.swap_catalogue(a_catalogue({CHAT: a_model(AdmissionPolicy(reserve=0)), IMAGE: strict}))
    pass_to(world, 6.0)
    observed = world.observe()

    assert observed.loads[CHAT].in_flight == Value(2.0, START + 6)
    assert set(observed.loads) == {CHAT, IMAGE}


def test_a_model_that_leaves_the_catalogue_is_scaled_to_nothing() -> None:
    world = a_world([(1.0, 0, 1.0)], a_catalogue({CHAT: a_model(), IMAGE: a_model()}))
    world.swap_catalogue(a_catalogue({IMAGE: a_model()}))
    pass_to(world, 5.0)

    assert replicas(world) == []
    assert set(world.observe().loads) == {IMAGE}


def test_a_request_of_several_slots_takes_and_gives_back_all_of_them() -> None:
    policy = AdmissionPolicy(reserve=0, tokens_per_slot=100)
    catalogue = a_catalogue({CHAT: a_model(policy)})
    rows = [(1.0, 0, 10.0), (2.0, 0, 10.0), (30.0, 0, 1.0)]
    world = a_world(catalogue=catalogue, traffic={CHAT: Rows(rows, prompts=[150, 50, 250])})
    pass_to(world, 5.0)
    assert world.observe().loads[CHAT].in_flight == Value(2.0, START + 5)  # one request, 2 slots
    pass_to(world, 40.0)
    tally = world.tally(CHAT)
    high = tally.classes[Priority.HIGH]

    assert (high.served, high.wait.max, high.rejected) == (2, 9.0, {"TooHeavy": 1})
    assert tally.busy_slot_s == 30.0


def test_requests_take_longer_on_a_slower_variant() -> None:
    model = a_model()
    (gpu,) = model.variants
    slow = replace(model.variants[gpu], service_s=3.0)
    fast = replace(model.variants[gpu], service_s=1.0)
    catalogue = a_catalogue({CHAT: model})
    npu = ClassName("NPU")
    classes = {**catalogue.node_classes, npu: catalogue.node_classes[gpu]}
    both = replace(model, variants={gpu: slow, npu: fast})
    catalogue = replace(catalogue, node_classes=classes, models={CHAT: both})
    world = a_world([(1.0, 0, 2.0)], catalogue)
    pass_to(world, 20.0)

    assert world.tally(CHAT).classes[Priority.HIGH].latency.max == 6.0


def test_a_lane_of_a_pod_that_is_gone_is_refused() -> None:
    world = a_world(serving=1)
    gone = replicas(world)[0]
    pass_to(world, 1.0)
    outcome = world.apply(SetLane(ReplicaName(gone.name + "x"), Lane.WARM, 0))

    assert outcome.note.endswith("does not exist")
