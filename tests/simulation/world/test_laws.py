"""Whatever is done to a world: no slot, device or request is lost, and nothing runs twice."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.domain.actions import Action, Lend, SetLane, SetReplicas, Sleep, Wake, WarmUp
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import NodeName, Zone
from controlplane.domain.replicas import Lane, Replica
from controlplane.simulation.world import (
    Fault,
    GenerationHangs,
    NodeDies,
    NodeReturns,
    PodFails,
    World,
    ZoneDies,
)
from controlplane.simulation.world.slots import TIMER
from tests.simulation.world.fleets import (
    CHAT,
    GPU,
    START,
    a_catalogue,
    a_model,
    a_world,
    poisson,
    replicas,
)

NODES = [NodeName(f"gpu-{zone}-{n}") for zone in ("z1", "z2") for n in (1, 2)]
ON_POD: list[Callable[[Replica], Action]] = [
    lambda r: WarmUp(r.name, 20),
    lambda r: SetLane(r.name, Lane.WARM, r.version),
    lambda r: SetLane(r.name, Lane.SERVING, r.version),
    lambda r: SetLane(r.name, Lane.SERVING, r.version),
    lambda r: SetLane(r.name, Lane.DRAINING, r.version),
    lambda r: Lend(r.name, 1),
    lambda r: Lend(r.name, 0),
    lambda r: Sleep(r.name),
    lambda r: Wake(r.name),
]
FAULTS: list[Callable[[float, int], Fault]] = [
    lambda at, n: NodeDies(at, NODES[n % 4]),
    lambda at, n: NodeReturns(at, NODES[n % 4]),
    lambda at, _: ZoneDies(at, Zone("z1")),
    lambda at, _: PodFails(at, CHAT),
    lambda at, _: GenerationHangs(at, CHAT),
]

moves = st.lists(
    st.tuples(
        st.sampled_from(["size", "pod", "pod", "pod", "fault"]),
        st.integers(0, 11),
        st.integers(0, 8),
        st.floats(0.1, 40.0),
    ),
    max_size=25,
)


def make(world: World, kind: str, which: int, what: int) -> None:
    pods = replicas(world)
    if kind == "size":
        victims = (pods[what % len(pods)].name,) if pods and what % 2 else ()
        world.apply(SetReplicas(CHAT, GPU, which % 7, victims))
    elif kind == "pod" and pods:
        world.apply(ON_POD[what](pods[which % len(pods)]))
    elif kind == "fault":
        world.inflict(FAULTS[what % len(FAULTS)](world.now, which))


@given(moves, st.integers(0, 5), st.booleans(), st.sampled_from([{}, {Priority.LOW: 12.0}]))
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost_whatever_is_done(
    moves: list[tuple[str, int, int, float]],
    seed: int,
    self_serving: bool,
    max_wait_s: dict[Priority, float],
) -> None:
    policy = AdmissionPolicy(reserve=1, max_wait_s=max_wait_s)
    catalogue = a_catalogue({CHAT: a_model(policy, slots=3, load_s=5.0)}, zones=("z1", "z2"))
    rows = poisson(seed, 200.0, {0: 1.0, 1: 0.8, 2: 1.0}, 2.0)
    world = a_world(rows, catalogue, serving=2, self_serving=self_serving)
    second = 0.0
    for kind, which, what, seconds in moves:
        make(world, kind, which, what)
        second += seconds
        while world.advance(START + second) < START + second:
            check(world)
            world.observe()
        check(world)
    world.advance(START + second + 2000.0, wake=False)
    check(world)


def check(world: World) -> None:
    every_slot_has_one_place(world)
    every_device_is_held_by_one_pod(world)
    every_request_is_somewhere(world)


def every_slot_has_one_place(world: World) -> None:
    station = world._stations[CHAT]
    slots, admission = station.slots, station.admission
    busy = [run[1] for run in slots.running if run[1] != TIMER]
    assert len(busy) == len(set(busy))
    for pod in world._cluster.pods.values():
        if pod.ended is not None:
            continue
        homes = {slot: slots.homes[slot] for slot in pod.engine.slots}
        for slot, home in homes.items():
            places = [slot in queue for queue in (slots.free, slots.lent, pod.engine.idle)]
            assert sum(places) == (slot not in busy)
            assert slot in busy or slot in home
        serving = sum(home is slots.free for home in homes.values())
        assert serving == (3 if pod.in_service else 0)
        assert sum(home is slots.lent for home in homes.values()) == pod.lent
        assert not pod.in_service or pod.answers
    assert admission.free == len(slots.free)
    assert admission.lent_free == len(slots.lent)
    pools = (slots.free, slots.lent)
    assert sum(admission.in_flight) == sum(
        any(slots.homes[slot] is pool for pool in pools) for slot in busy
    )
    assert admission.free == 0 or admission.queued[:2] == [0, 0]


def every_device_is_held_by_one_pod(world: World) -> None:
    for machine in world._cluster.machines:
        held = sum(
            pod.devices
            for pod in world._cluster.pods.values()
            if pod.machine is machine and pod.ended is None
        )
        assert machine.free == machine.devices - held >= 0


def every_request_is_somewhere(world: World) -> None:
    station = world._stations[CHAT]
    tally = world.tally(CHAT)
    for rank, priority in enumerate(PRIORITIES):
        c = tally.classes[priority]
        rejected = sum(c.rejected.values())
        assert c.arrived == c.served + c.failed + rejected + station.admission.queued[rank]
        assert c.served == c.wait.count == c.latency.count
        assert c.in_time <= c.served
        assert (c.wait.buckets >= 0).all()
    assert tally.busy_slot_s <= tally.billed_slot_s + 1e-6
