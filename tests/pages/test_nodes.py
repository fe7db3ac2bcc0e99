"""The first page shows every node: what is odd about it, and those of no class."""

from dataclasses import replace

import msgspec
from pytest_aiohttp.plugin import AiohttpClient

from controlplane.domain.fleet import UnknownNode
from controlplane.domain.quantities import NodeName, Zone
from controlplane.domain.samples import Absence, NoData
from controlplane.http.app import make_app
from controlplane.http.state import State
from controlplane.telemetry.history import History
from tests.pages.conftest import Client

L4 = UnknownNode(
    name=NodeName("l4-01"),
    zone=Zone("zone-a"),
    devices=2,
    labels={"nvidia.com/gpu.product": "NVIDIA-L4"},
    why="no class matches it; add one with resource: nvidia.com/gpu",
)


async def page(aiohttp_client: AiohttpClient, state: State, **changed: object) -> str:
    """Give the first page of the painted fleet, with this changed in what is seen."""
    assert state.history.view is not None
    history = History()
    history.view = msgspec.structs.replace(state.history.view, **changed)
    client: Client = await aiohttp_client(make_app(replace(state, history=history)))
    return await (await client.get("/")).text()


async def test_nodes_of_no_class_stand_with_what_to_write_into_the_catalogue(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    shown = await page(aiohttp_client, state, unknown=(L4,))

    assert "l4-01" in shown
    assert "No class matches it; add one with resource: nvidia.com/gpu" in shown
    assert "nvidia.com/gpu.product=NVIDIA-L4" in shown


async def test_what_is_odd_about_a_node_stands_beside_it(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    view = state.history.view
    assert view is not None
    assert not isinstance(view.nodes, NoData)
    noted = tuple(msgspec.structs.replace(n, note="2 of 8 devices are bad") for n in view.nodes)

    shown = await page(aiohttp_client, state, nodes=noted, others={node.name: 8 for node in noted})

    assert "2 of 8 devices are bad" in shown
    assert "held by a pod of others" in shown


async def test_p1_why_the_nodes_are_not_known_stands_with_the_command_that_grants_it(
    aiohttp_client: AiohttpClient, state: State
) -> None:
    granting = "list nodes is forbidden to ann; this grants it: kubectl create clusterrole x"

    assert granting in await page(aiohttp_client, state, nodes=NoData(Absence.FORBIDDEN, granting))
