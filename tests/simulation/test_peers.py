"""The peers on fleets written by hand: what they look at, when they act and what they write."""

from collections.abc import Sequence
from typing import Any

import pytest

from controlplane.domain.actions import SetReplicas
from controlplane.domain.fleet import FleetView
from controlplane.domain.replicas import Lane, Phase, Replica
from controlplane.domain.samples import NOT_YET, reading
from controlplane.simulation.peers.fleet import Deployment
from controlplane.simulation.peers.hpa import BusySlots, Hpa, QueueDepth
from controlplane.simulation.peers.kpa import Kpa
from controlplane.simulation.peers.static import Static
from controlplane.simulation.run import Policy
from controlplane.simulation.world import Observation
from tests.builders import A100, CHAT, a_class_load, a_load, a_replica

CHAT_PODS = Deployment(model=CHAT, node_class=A100, least=2, most=12, initial=4, slots=10)


def a_pod(name: str, busy: float | None = 0.0, **more: Any) -> Replica:
    in_flight = NOT_YET if busy is None else reading(busy, 0.0)
    return a_replica(name, in_flight=in_flight, **more)


def a_look(at: float, pods: Sequence[Replica], queue: float | None = 0.0) -> Observation:
    low = a_class_load(queue=NOT_YET if queue is None else queue, at=at)
    view = FleetView(at=at, nodes=(), replicas=tuple(pods))
    return Observation(view, {CHAT: a_load(low=low, at=at)})


def sizes(policy: Policy, looks: Sequence[Observation]) -> list[int]:
    """Let a policy look; give the size it wrote at each look, 0 where it wrote none."""
    written = []
    for look in looks:
        actions = policy.cycle(look)
        counts = [action.count for action in actions if isinstance(action, SetReplicas)]
        assert len(counts) == len(actions)
        written.append(counts[0] if counts else 0)
    return written


def busy(*slots: float) -> list[Replica]:
    return [a_pod(f"p{index}", in_use) for index, in_use in enumerate(slots)]


def an_hpa(target: float) -> Hpa:
    return Hpa({CHAT: BusySlots(target)}, [CHAT_PODS])


def test_an_hpa_acts_on_its_sync_of_15_s_and_on_what_it_scraped_since_the_last() -> None:
    # At 0 s the pods are idle, then full. At 15 s the readings of 5, 10 and 15 s count: all 10 of
    # 10. Ratio 1 / 0.5 = 2, so 2 x 4 = 8.
    looks = [a_look(at, busy(*[10.0 if at else 5.0] * 4)) for at in (0.0, 5.0, 10.0, 15.0)]

    assert sizes(an_hpa(0.5), looks) == [0, 0, 0, 8]


def test_readings_are_averaged_over_the_last_15_s() -> None:
    # 4, 10 and 10 of 10 slots: mean 0.8; 0.8 / 0.5 x 4 = 6.4 -> 7
    load = {0.0: 5.0, 5.0: 4.0, 10.0: 10.0, 15.0: 10.0}
    looks = [a_look(at, busy(*[in_use] * 4)) for at, in_use in load.items()]

    assert sizes(an_hpa(0.5), looks)[-1] == 7


def test_pods_on_their_way_up_hold_an_hpa_back() -> None:
    # Four full pods, two pending, two loading without a metric: 4 / 8 = 0.5 is just the target.
    pods = [
        *busy(10, 10, 10, 10),
        *(a_pod(f"new{n}", None, lane=Lane.LOADING, phase=Phase.PENDING) for n in range(2)),
        *(a_pod(f"up{n}", None, lane=Lane.LOADING) for n in range(2)),
    ]

    assert sizes(an_hpa(0.5), [a_look(0.0, pods)]) == [0]


def test_an_hpa_without_a_single_metric_changes_nothing() -> None:
    assert sizes(an_hpa(0.5), [a_look(0.0, busy()), a_look(15.0, busy())]) == [0, 0]


def test_keda_divides_the_queue_by_its_target_and_counts_every_pod_that_is_not_going() -> None:
    keda = Hpa({CHAT: QueueDepth(5)}, [CHAT_PODS])
    pods = [*busy(0, 0, 0, 0), a_pod("going", phase=Phase.TERMINATING)]

    # 22 / (5 x 4) = 1.1 is within the tolerance; 30 / 5 = 6
    assert sizes(keda, [a_look(0.0, pods, queue=22), a_look(15.0, pods, queue=30)]) == [0, 6]


def test_an_unknown_queue_is_not_an_empty_one() -> None:
    keda = Hpa({CHAT: QueueDepth(5)}, [CHAT_PODS])
    looks = [a_look(15.0 * n, busy(0, 0, 0, 0), queue=None) for n in range(40)]

    assert set(sizes(keda, looks)) == {0}


def test_an_empty_queue_brings_keda_to_its_minimum_after_300_s_and_not_before() -> None:
    keda = Hpa({CHAT: QueueDepth(5)}, [CHAT_PODS])
    written = sizes(keda, [a_look(15.0 * n, busy(0, 0, 0, 0)) for n in range(21)])

    assert written == [0] * 20 + [2]


def test_a_kpa_counts_waiting_requests_and_panics_within_its_six_seconds() -> None:
    # 10 slots at 70 % make 7 a pod. 4 busy a pod: 16 / 7 -> 3, but 4 pods may lose at most half,
    # and it begins in panic at 4. Then 40 busy and 80 waiting: 6 s later 120 / 7 -> 18, bound 12.
    calm = [a_look(float(at), busy(4, 4, 4, 4)) for at in range(10)]
    surge = [a_look(float(at), busy(10, 10, 10, 10), queue=80) for at in range(10, 17)]
    kpa = Kpa([CHAT_PODS])

    assert set(sizes(kpa, calm)) == {0}
    written = [size for size in sizes(kpa, surge) if size]
    assert written[-1] == 12
    assert written == sorted(written)


def test_a_kpa_falls_by_half_at_most_once_its_panic_is_over() -> None:
    kpa = Kpa([CHAT_PODS])
    written = sizes(kpa, [a_look(float(at), busy(0, 0, 0, 0)) for at in range(70)])

    assert [size for size in written if size] == [2]
    assert written.index(2) == 62  # 60 s of stable window after the start, at the next tick


def test_a_static_fleet_writes_nothing() -> None:
    static = Static([CHAT_PODS])

    assert sizes(static, [a_look(0.0, busy(10, 10, 10, 10), queue=500)]) == [0]
    assert static.targets == {CHAT: 4}


@pytest.mark.parametrize("policy", [an_hpa(0.5), Kpa([CHAT_PODS]), Static([CHAT_PODS])])
def test_no_peer_is_woken_early(policy: Policy) -> None:
    assert policy.wakes is False
