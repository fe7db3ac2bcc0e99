"""Every node is shown: what is odd about it, who else holds it, and why it is never used."""

import csv
from io import StringIO

import msgspec
import pytest

from controlplane.domain.fleet import FleetView, UnknownNode
from controlplane.domain.quantities import NodeName, Zone
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.samples import Absence, NoData
from controlplane.http.reads.fleet import fleet
from controlplane.http.state import State
from tests.http.conftest import T0, Client, a_view

WHY = "no class matches it; add one with resource: nvidia.com/gpu"
L4 = UnknownNode(
    name=NodeName("l4-01"),
    zone=Zone("zone-a"),
    devices=2,
    labels={"nvidia.com/gpu.product": "NVIDIA-L4"},
    why=WHY,
)


@pytest.fixture
def odd(state: State) -> State:
    """One node has two devices fewer and one that somebody else holds; another is of no class."""
    view = a_view()
    assert not isinstance(view.nodes, NoData)
    noted = msgspec.structs.replace(view.nodes[1], note="2 of 6 devices are unhealthy")
    state.history.view = msgspec.structs.replace(
        view,
        nodes=(view.nodes[0], noted),
        unknown=(L4,),
        others={NodeName("a100-02"): 2},
    )
    return state


async def test_devices_held_by_others_are_marked_beside_those_of_replicas(odd: State) -> None:
    found = await fleet(odd)

    node = found.pools[0].nodes[1]
    assert [(cell.model, cell.foreign) for cell in node.devices] == [
        ("chat", False),
        (None, False),
        (None, True),
        (None, True),
    ]
    assert node.note == "2 of 6 devices are unhealthy"


async def test_the_nodes_are_a_table_in_json_and_in_csv(odd: State, client: Client) -> None:
    listed = await (await client.get("/api/v1/nodes")).json()
    table = list(csv.DictReader(StringIO(await (await client.get("/api/v1/nodes.csv")).text())))

    assert [(row["name"], row["node_class"], row["held"], row["foreign"]) for row in listed] == [
        ("a100-01", "A100-80G", 2, 0),
        ("a100-02", "A100-80G", 1, 2),
        ("l4-01", None, 0, 0),
    ]
    assert [row["note"] for row in table] == ["", "2 of 6 devices are unhealthy", WHY]
    assert odd.history.view is not None


async def test_p1_why_the_nodes_are_not_known_is_said_with_what_grants_it(
    state: State, client: Client
) -> None:
    granting = "list nodes is forbidden to ann; this grants it: kubectl create clusterrole x"
    state.history.view = FleetView(
        at=T0, nodes=NoData(Absence.FORBIDDEN, granting), replicas=a_view().replicas
    )

    assert (await (await client.get("/api/v1/fleet")).json())["inventory_note"] == granting


async def test_an_engine_that_does_not_come_up_needs_attention(state: State) -> None:
    view = a_view()
    stuck = msgspec.structs.replace(
        view.replicas[2], stuck=True, note="CrashLoopBackOff after OOMKilled (exit code 137)"
    )
    state.history.view = msgspec.structs.replace(view, replicas=(*view.replicas[:2], stuck))

    row = next(r for r in (await fleet(state)).attention if r.code is ReasonCode.REPLICA_FAILED)

    assert row.severity == "bad"
    assert "OOMKilled" in str(row.evidence)
