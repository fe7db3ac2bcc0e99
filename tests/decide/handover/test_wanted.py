"""What KEDA is told to have: what spare would write itself, and the same from every daemon."""

from dataclasses import replace

import msgspec

from controlplane.decide.handover.wanted import wanted
from controlplane.decide.scaling.variants import variants
from controlplane.decide.spare.inputs import SpareMemory, SpareSeen
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Standing
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.overrides import Override
from controlplane.domain.policies import SparePolicy
from controlplane.domain.quantities import NodeName, Zone
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import reading
from tests.builders import A100, CHAT, NOW, a_catalogue, a_model, a_policy, a_replica

NODE = Node(name=NodeName("a100-01"), node_class=A100, zone=Zone("zone-a"), devices=32)


def a_fleet(spare: int = 0, writer: str = "keda") -> Catalogue:
    policy = replace(a_policy(writer=writer), spare=SparePolicy(count=spare, rotate_s=None))
    return a_catalogue({CHAT: a_model(policy=policy)})


def a_look(target: int, *replicas: Replica, **more: object) -> SpareSeen:
    standing = Standing(replicas=target, split={A100: target}, since=NOW)
    view = FleetView(at=NOW, nodes=(NODE,), replicas=replicas)
    return SpareSeen(at=NOW, view=view, plan={CHAT: standing}, **more)  # type: ignore[arg-type]  # overrides


def sized(look: SpareSeen, fleet: Catalogue, since: float | None = None) -> int | None:
    sizes, _ = wanted(look, fleet, variants(fleet), SpareMemory(hush_since=since))
    return sizes.get(CHAT, {}).get(A100)


def test_it_is_the_target_and_the_spares() -> None:
    serving = [a_replica(f"r{n}") for n in range(2)]

    assert sized(a_look(4, *serving), a_fleet(spare=1)) == 5


def test_nothing_new_is_what_is_there() -> None:
    serving = [a_replica(f"r{n}") for n in range(3)]

    assert sized(a_look(3, *serving), a_fleet()) == 3


def test_what_drains_is_kept_until_its_last_stream_has_ended() -> None:
    busy = a_replica("r1", Lane.DRAINING, in_flight=reading(2, NOW), lane_since=NOW)
    done = a_replica("r1", Lane.DRAINING, in_flight=reading(0, NOW), lane_since=NOW)

    assert sized(a_look(1, a_replica("r0"), busy), a_fleet()) == 2
    assert sized(a_look(1, a_replica("r0"), done), a_fleet()) == 1


def test_paused_it_stays_as_it_is() -> None:
    pause = {CHAT: Override(subject=CHAT, paused=True, by="me", at=NOW)}
    serving = [a_replica(f"r{n}") for n in range(2)]

    assert sized(a_look(4, *serving, overrides=pause), a_fleet()) == 2


def test_a_model_that_controlplane_writes_itself_is_not_published() -> None:
    assert sized(a_look(4), a_fleet(writer="controlplane")) is None


def test_nodes_that_all_fall_silent_change_nothing_until_it_is_believed() -> None:
    gone = [a_replica(f"r{n}", node_ready=False) for n in range(2)]
    look = a_look(2, *gone)
    silent = msgspec.structs.replace(NODE, ready=False)
    look = msgspec.structs.replace(look, view=msgspec.structs.replace(look.view, nodes=(silent,)))

    assert sized(look, a_fleet()) == 2
    assert sized(look, a_fleet(), since=NOW - 60) == 4
