"""A pod's life: scheduled, pulled, loaded, warmed up, promoted, drained, deleted (R1 to R5)."""

from controlplane.domain.actions import SetLane, SetReplicas, Sleep, Wake, WarmUp
from controlplane.domain.decisions import Ending
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.replicas import Lane, Phase, Stage
from controlplane.domain.samples import Value, Zero
from controlplane.simulation.world import GenerationHangs
from tests.simulation.world.fleets import (
    CHAT,
    GPU,
    START,
    a_catalogue,
    a_model,
    a_world,
    flip,
    named,
    pass_to,
    replicas,
)


def test_a_world_begins_with_its_replicas_serving_and_warm() -> None:
    (first,) = replicas(a_world())

    assert (first.lane, first.phase, first.healthy, first.warmed_up) == (
        Lane.SERVING,
        Phase.RUNNING,
        True,
        True,
    )
    assert first.node == "gpu-z1-1"
    assert first.name.startswith("chat-gpu-")


def test_a_new_pod_is_pulled_then_loaded_then_healthy_but_still_loading() -> None:
    world = a_world(image_cached=False, serving=0)
    world.apply(SetReplicas(CHAT, GPU, 1))
    stages = []
    for second in (1.0, 239.0, 241.0, 269.0, 271.0):  # 15 GiB at 1/16 GiB/s, then 30 s
        pass_to(world, second)
        (pod,) = replicas(world)
        stages.append((pod.stage, pod.phase, pod.healthy))

    assert stages == [
        (Stage.PULLING, Phase.PENDING, False),
        (Stage.PULLING, Phase.PENDING, False),
        (Stage.LOADING_MODEL, Phase.RUNNING, False),
        (Stage.LOADING_MODEL, Phase.RUNNING, False),
        (Stage.UP, Phase.RUNNING, True),
    ]
    assert replicas(world)[0].lane is Lane.LOADING


def test_an_image_is_pulled_once_per_node() -> None:
    world = a_world(image_cached=False, serving=0, catalogue=a_catalogue(nodes=1))
    world.apply(SetReplicas(CHAT, GPU, 1))
    pass_to(world, 100.0)
    world.apply(SetReplicas(CHAT, GPU, 2))  # joins the pull that is under way
    pass_to(world, 271.0)
    assert [r.healthy for r in replicas(world)] == [True, True]
    world.apply(SetReplicas(CHAT, GPU, 1))
    world.apply(SetReplicas(CHAT, GPU, 2))
    pass_to(world, 302.0)  # the image is there: only loading

    assert all(r.healthy for r in replicas(world))


def test_a_pod_that_fits_nowhere_stays_pending_and_says_why() -> None:
    world = a_world(catalogue=a_catalogue(nodes=1))
    world.apply(SetReplicas(CHAT, GPU, 3))
    pass_to(world, 5.0)
    pending = [r for r in replicas(world) if r.phase is Phase.PENDING]

    assert [(r.stage, r.node, r.unschedulable_since) for r in pending] == [
        (Stage.UNSCHEDULED, None, START)
    ]
    assert pending[0].note == "0/1 nodes are available: 1 had too few free devices (1 wanted)."


def test_a_pending_pod_is_placed_as_soon_as_devices_fall_free() -> None:
    world = a_world(catalogue=a_catalogue(nodes=1))
    world.apply(SetReplicas(CHAT, GPU, 3))
    first, loading, pending = replicas(world)
    # The Pending one would go first, so the loading one is named.
    world.apply(SetReplicas(CHAT, GPU, 2, victims=(loading.name,)))

    assert [r.name for r in replicas(world)] == [first.name, pending.name]
    assert named(world, pending.name).node == "gpu-z1-1"
    assert named(world, pending.name).unschedulable_since is None


def test_replicas_spread_over_zones_while_they_can() -> None:
    world = a_world(catalogue=a_catalogue(zones=("z1", "z2"), nodes=1), serving=0)
    world.apply(SetReplicas(CHAT, GPU, 3))

    assert sorted(str(r.zone) for r in replicas(world)) == ["z1", "z1", "z2"]


def test_shrinking_takes_victims_then_pending_then_not_ready_then_the_newest() -> None:
    world = a_world(catalogue=a_catalogue(nodes=2), serving=2)
    world.apply(SetReplicas(CHAT, GPU, 3))
    pass_to(world, 31.0)  # the third is healthy
    world.apply(SetReplicas(CHAT, GPU, 5))  # the fourth loads, the fifth is Pending
    one, two, three, four, five = (r.name for r in replicas(world))
    left = []
    for count, victims in ((4, (one,)), (3, ()), (2, ()), (1, ())):
        before = {r.name for r in replicas(world)}
        world.apply(SetReplicas(CHAT, GPU, count, victims))
        left += sorted(before - {r.name for r in replicas(world)})

    # When `one` went its device was free, so the fifth is no longer Pending: it is the newest.
    assert left == [one, five, four, three]
    assert [r.name for r in replicas(world)] == [two]


def test_r1_no_request_reaches_a_replica_before_it_is_warm_and_promoted() -> None:
    world = a_world([(0.5 * n, 0, 0.1) for n in range(400)], serving=0)
    world.apply(SetReplicas(CHAT, GPU, 1))
    pass_to(world, 31.0)
    (pod,) = replicas(world)
    assert pod.healthy
    world.apply(WarmUp(pod.name, 100))
    assert named(world, pod.name).warming_up
    # 100 requests at 2 slots, on average 2.505 times slower than 1 s
    pass_to(world, 31.0 + 125.2)
    assert not named(world, pod.name).warmed_up
    pass_to(world, 31.0 + 125.3)
    assert named(world, pod.name).warmed_up
    flip(world, named(world, pod.name), Lane.SERVING)
    pass_to(world, 31.0 + 127.2)
    assert world.tally(CHAT).max_serving == 0
    assert isinstance(world.observe().loads[CHAT].in_flight, Zero)
    pass_to(world, 31.0 + 127.4)

    assert world.tally(CHAT).max_serving == 1
    assert isinstance(world.observe().loads[CHAT].in_flight, Value)


def test_r2_a_hanging_engine_is_healthy_but_its_warm_up_never_ends() -> None:
    world = a_world(serving=0, faults=(GenerationHangs(START, CHAT),))
    world.apply(SetReplicas(CHAT, GPU, 1))
    pass_to(world, 31.0)
    (pod,) = replicas(world)
    world.apply(WarmUp(pod.name, 100))
    pass_to(world, 4000.0)
    hung = named(world, pod.name)

    assert (hung.healthy, hung.warming_up, hung.warmed_up, hung.lane) == (
        True,
        True,
        False,
        Lane.LOADING,
    )
    # Its successor is well.
    world.apply(SetReplicas(CHAT, GPU, 2, ()))
    world.apply(SetReplicas(CHAT, GPU, 1, (pod.name,)))
    pass_to(world, 4200.0)
    (other,) = replicas(world)
    world.apply(WarmUp(other.name, 1))
    pass_to(world, 4300.0)
    assert named(world, other.name).warmed_up


def test_r3_a_draining_replica_takes_nothing_new_and_completes_its_stream() -> None:
    rows = [(0.0, 0, 200.0), (0.0, 0, 200.0)] + [(10.0 + n, 0, 0.5) for n in range(100)]
    world = a_world(rows, serving=2)
    pass_to(world, 5.0)
    first, second = replicas(world)
    assert [first.in_flight, second.in_flight] == [Value(2.0, START + 5), Zero(START + 5)]
    busy = first
    flip(world, busy, Lane.DRAINING)
    pass_to(world, 150.0)
    assert named(world, busy.name).in_flight == Value(2.0, START + 150)
    pass_to(world, 201.0)

    assert named(world, busy.name).in_flight == Zero(START + 201)
    tally = world.tally(CHAT)
    assert (sum(c.failed for c in tally.classes.values())) == 0


def test_a_pod_deleted_with_requests_in_flight_resets_them() -> None:
    world = a_world([(0.0, 0, 100.0), (0.0, 0, 100.0), (0.0, 0, 100.0)], serving=2)
    pass_to(world, 5.0)
    world.apply(SetReplicas(CHAT, GPU, 0))
    pass_to(world, 6.0)
    high = world.tally(CHAT).classes[Priority.HIGH]

    assert (high.arrived, high.served, high.failed, high.in_time) == (3, 0, 3, 0)
    assert world.tally(CHAT).busy_slot_s == 15.0


def test_r5_a_flip_is_refused_when_the_pod_has_changed_since_it_was_seen() -> None:
    world = a_world(serving=2)
    seen = replicas(world)[0]
    flip(world, seen, Lane.WARM)
    outcome = world.apply(SetLane(seen.name, Lane.DRAINING, seen.version))

    assert outcome.ending is Ending.REFUSED
    assert outcome.note == f"{seen.name} is at version {seen.version + 1}, not {seen.version}"
    assert named(world, seen.name).lane is Lane.WARM


def test_a_draining_pod_comes_back_to_no_lane_and_an_unknown_pod_is_refused() -> None:
    world = a_world(serving=2)
    flip(world, replicas(world)[0], Lane.DRAINING)
    draining = replicas(world)[0]
    back = world.apply(SetLane(draining.name, Lane.SERVING, draining.version))
    unknown = world.apply(WarmUp(ReplicaName(draining.name + "x"), 1))

    assert [back.ending, unknown.ending] == [Ending.REFUSED, Ending.REFUSED]


def test_actions_may_be_repeated() -> None:
    world = a_world(serving=1)
    assert [world.apply(SetReplicas(CHAT, GPU, 2)).ending for _ in range(3)] == [Ending.DONE] * 3
    assert len(replicas(world)) == 2
    pass_to(world, 31.0)
    new = replicas(world)[1]
    for _ in range(2):
        assert world.apply(WarmUp(new.name, 100)).ending is Ending.DONE
    pass_to(world, 31.0 + 126.0)

    assert named(world, new.name).warmed_up


def test_a_plain_deployment_serves_by_itself_and_its_first_requests_are_slow() -> None:
    rows = [(100.0 + 10.0 * n, 0, 1.0) for n in range(120)]
    world = a_world(rows, serving=0, self_serving=True)
    world.apply(SetReplicas(CHAT, GPU, 1))
    pass_to(world, 1500.0)
    latency = world.tally(CHAT).classes[Priority.HIGH].latency

    # 100 requests from 3 x down to 2.01 x, then 20 of 1 s each
    assert latency.max == 3.0
    assert round(latency.total, 6) == round(sum(3 - n / 100 for n in range(100)) + 20, 6)


def test_a_sleeping_replica_serves_only_after_it_woke() -> None:
    world = a_world(serving=2, catalogue=a_catalogue({CHAT: a_model()}))
    name = replicas(world)[0].name
    flip(world, named(world, name), Lane.WARM)
    assert world.apply(Sleep(name)).ending is Ending.DONE
    asleep = named(world, name)
    assert asleep.sleeping
    assert world.apply(SetLane(name, Lane.SERVING, asleep.version)).ending is Ending.REFUSED
    world.apply(Wake(name))
    pass_to(world, 3.5)

    assert not named(world, name).sleeping
    flip(world, named(world, name), Lane.SERVING)
