"""A lost zone: its replicas grow anew elsewhere at once, and serve until they are replaced."""

from controlplane.decide.spare.inputs import SpareInput
from controlplane.decide.spare.lanes import decide_spare
from controlplane.decide.zones.lost import Lost, lost
from controlplane.domain.actions import SetLane, SetReplicas
from controlplane.domain.decisions import Choice, Standing
from controlplane.domain.fleet import Node
from controlplane.domain.policies import SparePolicy
from controlplane.domain.quantities import NodeName, ReplicaName, Zone
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import Absence, NoData
from tests.builders import A100, CHAT, NOW, a_replica, facts

GONE = NodeName("a-1")
HERE = NodeName("b-1")


def test_a_zone_whose_nodes_are_all_silent_or_cordoned_is_lost() -> None:
    nodes = [
        _node("a-1", "zone-a", ready=False),
        _node("a-2", "zone-a", schedulable=False),
        _node("b-1", "zone-b", ready=False),
        _node("b-2", "zone-b"),
    ]

    assert lost(nodes) == Lost(frozenset({Zone("zone-a")}), frozenset({GONE, NodeName("a-2")}))


def test_where_all_is_lost_or_unknown_nothing_leaves() -> None:
    assert lost([_node("a-1", "zone-a", ready=False)]).zones == frozenset()
    assert lost(NoData(Absence.FORBIDDEN)).zones == frozenset()


def test_what_was_on_silent_nodes_grows_anew_without_waiting_for_an_eviction() -> None:
    silent = [_at(f"s{i}", GONE, node_ready=False) for i in range(2)]

    choice = _decide(*silent, _at("s9", HERE), target=3)

    assert choice.actions == (SetReplicas(model=CHAT, node_class=A100, count=5),)
    assert choice.decisive is ReasonCode.ZONE_LOST or _codes(choice) == [ReasonCode.ZONE_LOST]


def test_what_still_answers_there_serves_until_it_is_replaced() -> None:
    there = [_at(f"s{i}", GONE) for i in range(2)]

    choice = _decide(*there, _at("s9", HERE), target=3)

    assert choice.actions == (SetReplicas(model=CHAT, node_class=A100, count=5),)


def test_it_leaves_as_its_replacement_serves() -> None:
    there = [_at(f"s{i}", GONE) for i in range(2)]
    elsewhere = [_at(f"n{i}", HERE) for i in range(2)]

    choice = _decide(*there, *elsewhere, target=3)

    assert SetLane(ReplicaName("s0"), Lane.DRAINING, 0) in choice.actions
    assert SetLane(ReplicaName("s1"), Lane.DRAINING, 0) not in choice.actions


def test_a_spare_there_is_given_up_when_enough_serve_elsewhere() -> None:
    choice = _decide(_at("s9", HERE), _at("w", GONE, lane=Lane.WARM), target=1)

    assert choice.actions == (
        SetReplicas(model=CHAT, node_class=A100, count=1, victims=(ReplicaName("w"),)),
    )
    assert ReasonCode.ZONE_LOST in _codes(choice)


def test_a_spare_there_serves_as_long_as_nothing_else_can() -> None:
    choice = _decide(_at("w", GONE, lane=Lane.WARM), target=1)

    assert SetLane(ReplicaName("w"), Lane.SERVING, 0) in choice.actions


def _decide(*replicas: Replica, target: int) -> Choice:
    return decide_spare(
        SpareInput(
            at=NOW,
            model=CHAT,
            policy=SparePolicy(rotate_s=None),
            standing=Standing(replicas=target, split={A100: target}, since=0.0),
            variants=(facts(A100),),
            replicas=replicas,
            room={A100: 9},
            lost=(GONE,),
        )
    )


def _at(
    name: str, node: NodeName, *, lane: Lane = Lane.SERVING, node_ready: bool = True
) -> Replica:
    return a_replica(name, lane, node=node, node_ready=node_ready)


def _codes(choice: Choice) -> list[ReasonCode]:
    return [reason.code for reason in choice.trail]


def _node(name: str, zone: str, *, ready: bool = True, schedulable: bool = True) -> Node:
    return Node(
        name=NodeName(name),
        node_class=A100,
        zone=Zone(zone),
        devices=8,
        ready=ready,
        schedulable=schedulable,
    )
