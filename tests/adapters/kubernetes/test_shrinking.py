"""Whom a ReplicaSet takes when it shrinks, against the order its own source gives."""

from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from controlplane.adapters.kubernetes.pod_shape import Pod
from controlplane.adapters.kubernetes.sizing import whom_a_shrink_takes
from tests.adapters.kubernetes.objects import a_pod, kept, placed, runs

READY = runs()
UNREADY: dict[str, Any] = {
    **runs(),
    "conditions": [placed(), {"type": "Ready", "status": "False"}],
}
STARTING: dict[str, Any] = {"phase": "Pending", "conditions": [placed()]}
STATES = st.sampled_from(["ready", "unready", "starting", "unplaced"])


def a(state: str, number: int) -> Pod:
    status = {"ready": READY, "unready": UNREADY}.get(state, STARTING)
    return kept(a_pod(status, name=f"p{number}", node="" if state == "unplaced" else "n1"))


def before(one: Pod, other: Pod, victims: frozenset[str]) -> bool:
    """ActivePodsWithRanks.Less of Kubernetes, as far as it looks before the pods' ages."""
    if bool(one.node) != bool(other.node):
        return not one.node
    if one.phase != other.phase:
        return one.phase == "Pending"
    if one.ready != other.ready:
        return not one.ready
    return one.name in victims and other.name not in victims


@given(st.lists(STATES, min_size=1, max_size=5), st.data())
def test_whom_it_takes_is_whom_the_controller_would(states: list[str], data: st.DataObject) -> None:
    pods = [a(state, number) for number, state in enumerate(states)]
    chosen = data.draw(st.sets(st.sampled_from([pod.name for pod in pods])))
    victims = frozenset(chosen)

    taken = whom_a_shrink_takes(pods, victims)

    assert len(taken) == len(victims)
    for gone, stays in permutations(pods, 2):
        if gone.name in taken and stays.name not in taken:
            assert not before(stays, gone, victims)


def test_a_drained_one_would_outlive_one_that_is_on_its_way_up() -> None:
    drained, starting = a("ready", 1), a("unplaced", 2)

    assert whom_a_shrink_takes([drained, starting], {drained.name}) == {starting.name}
