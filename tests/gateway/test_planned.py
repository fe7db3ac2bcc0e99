"""The plan out of what was seen: who is an endpoint, of whom, for whom."""

from typing import Any

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import FleetView
from controlplane.domain.gateway import Endpoint
from controlplane.domain.overrides import Isolation
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import Value, Zero
from controlplane.domain.serving import Serving
from controlplane.gateway.planning import Around, plan_of
from controlplane.ports import EngineAt
from tests.builders import A100, CHAT, NOW, a_catalogue, a_replica


def at(name: str) -> EngineAt:
    return EngineAt(
        replica=ReplicaName(name), model=CHAT, node_class=A100, host="10.0.0.1",
        serving=Serving(port=8001), serves=True, started="1",
    )  # fmt: skip


def planned(
    *replicas: Replica, catalogue: Catalogue | None = None, **around: Any
) -> list[Endpoint]:
    view = FleetView(at=NOW, nodes=(), replicas=replicas)
    engines = [at(replica.name) for replica in replicas]
    plan = plan_of(view, catalogue or a_catalogue(), engines, Around(**around))
    return list(next(m for m in plan.models if m.name == CHAT).endpoints)


def test_only_replicas_in_service_are_endpoints() -> None:
    found = planned(
        a_replica("in"),
        a_replica("warm", Lane.WARM),
        a_replica("loading", Lane.LOADING),
        a_replica("silent", node_ready=False),
    )

    assert [(e.replica, e.host, e.port, e.taking, e.lending) for e in found] == [
        ("in", "10.0.0.1", 8001, True, False)
    ]


def test_a_lending_spare_is_an_endpoint_for_low_with_what_it_lends() -> None:
    (spare,) = planned(a_replica("spare", Lane.WARM, warmed_up=True, lent_slots=3))

    assert (spare.lending, spare.slots) == (True, 3)


def test_r3_a_draining_replica_gets_nothing_new_and_holds_what_it_still_runs() -> None:
    draining = a_replica("out", Lane.DRAINING, in_flight=Value(2.0, NOW))
    over = a_replica("over", Lane.DRAINING, in_flight=Zero(NOW))

    assert [(e.taking, e.slots) for e in planned(draining, over)] == [(False, 2), (False, 0)]


def test_an_engine_that_reports_its_own_queue_gets_nothing_new() -> None:
    busy = a_replica("busy", in_flight=Value(5.0, NOW))

    (found,) = planned(busy, full=frozenset({ReplicaName("busy")}))

    assert (found.taking, found.slots) == (False, 5)


def test_a_replica_whose_address_is_unknown_takes_no_requests() -> None:
    view = FleetView(at=NOW, nodes=(), replicas=(a_replica("new"),))

    assert plan_of(view, a_catalogue(), []).models[0].endpoints == ()


def test_promises_and_isolation_are_passed_on() -> None:
    view = FleetView(at=NOW, nodes=(), replicas=())
    out = Isolation(by="ops", at=5.0, why="corrupt weights")
    plan = plan_of(view, a_catalogue(), [], Around(isolated={CHAT: out}))

    model = next(m for m in plan.models if m.name == CHAT)
    assert model.isolated == out
    assert set(model.wait_limits) <= set(Priority)
