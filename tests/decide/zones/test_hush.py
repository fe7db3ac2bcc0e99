"""Nearly all nodes silent at once: the listening failed, and nothing is built anew for a minute."""

import pytest

from controlplane.decide.scaling.variants import variants
from controlplane.decide.spare.cycle import cycle
from controlplane.decide.spare.inputs import SpareMemory, SpareSeen
from controlplane.decide.zones.hush import hush_since, hushed
from controlplane.domain.actions import SetLane, SetReplicas
from controlplane.domain.decisions import Choice, Standing
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.quantities import NodeName, ReplicaName, Zone
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import Absence, NoData
from tests.builders import A100, CHAT, NOW, a_catalogue, a_model, a_replica


@pytest.mark.parametrize(
    ("heard", "is_hush"),
    [
        ({"a": (False,)}, True),
        ({"a": (False, False, True)}, True),  # the first one reports again
        ({"a": (False, True)}, False),  # half of them: a node death like any other
        ({"a": (False, False), "b": (True, True)}, False),  # a lost zone
        ({"a": (False, False), "b": (False, False, True)}, True),
        ({}, False),  # no nodes is not silence
    ],
)
def test_a_hush_is_when_in_every_zone_most_nodes_are_silent(
    heard: dict[str, tuple[bool, ...]], is_hush: bool
) -> None:
    nodes = [
        _node(f"{zone}{n}", zone, ready=ready)
        for zone, all_of in heard.items()
        for n, ready in enumerate(all_of)
    ]

    assert (hush_since(nodes, NOW, None) is not None) is is_hush


def test_it_counts_from_its_beginning_and_is_believed_after_a_minute() -> None:
    silent = [_node("a1", "a", ready=False)]

    since = hush_since(silent, NOW, None)
    assert since == NOW
    assert hush_since(silent, NOW + 30, since) == NOW
    assert hushed(NOW + 59, since)
    assert not hushed(NOW + 60, since)


def test_nodes_that_are_not_known_neither_begin_nor_end_it() -> None:
    unknown = NoData(Absence.UNREACHABLE)

    assert hush_since(unknown, NOW, None) is None
    assert hush_since(unknown, NOW, NOW - 5) == NOW - 5


def test_during_it_nothing_is_created_or_deleted_and_it_is_told_once() -> None:
    there = _serving(3, node_ready=False)

    (told,), memory = _spare(NOW, there, SpareMemory(), ready=False)
    after, memory = _spare(NOW + 5, there, memory, ready=False)

    assert [reason.code for reason in told.trail] == [ReasonCode.MOST_NODES_SILENT]
    assert told.actions == ()
    assert after == ()
    assert memory.hush_since == NOW


def test_when_the_nodes_are_heard_again_everything_is_as_it_was() -> None:
    _, memory = _spare(NOW, _serving(3, node_ready=False), SpareMemory(), ready=False)

    choices, memory = _spare(NOW + 5, _serving(3), memory, ready=True)

    assert choices == ()
    assert memory.hush_since is None


def test_after_a_minute_it_is_believed() -> None:
    memory = SpareMemory(hush_since=NOW - 60)

    (choice,), _ = _spare(NOW, _serving(3, node_ready=False), memory, ready=False)

    assert choice.actions == (SetReplicas(model=CHAT, node_class=A100, count=6),)


def test_a_warm_replica_that_is_heard_is_promoted_all_the_same() -> None:
    warm = a_replica("w", Lane.WARM)

    (choice,), _ = _spare(NOW, [*_serving(3, node_ready=False), warm], SpareMemory(), ready=False)

    assert choice.actions == (SetLane(ReplicaName("w"), Lane.SERVING, 0),)


def _serving(count: int, *, node_ready: bool = True) -> list[Replica]:
    return [a_replica(f"s{i}", node_ready=node_ready) for i in range(count)]


def _spare(
    at: float, replicas: list[Replica], memory: SpareMemory, *, ready: bool
) -> tuple[tuple[Choice, ...], SpareMemory]:
    catalogue = a_catalogue({CHAT: a_model()})
    view = FleetView(at=at, nodes=(_node("n1", "a", ready=ready),), replicas=tuple(replicas))
    plan = {CHAT: Standing(replicas=3, split={A100: 3}, since=0.0)}
    return cycle(SpareSeen(at=at, view=view, plan=plan), catalogue, variants(catalogue), memory)


def _node(name: str, zone: str, *, ready: bool) -> Node:
    return Node(name=NodeName(name), node_class=A100, zone=Zone(zone), devices=8, ready=ready)
