"""Node objects as vendors and clouds label them, through the API server into a served daemon.

What is expected of each stands beside it and comes from what those vendors document, never from
what the daemon happens to say.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from controlplane.domain.fleet import FleetView
from tests.cluster.api import Api
from tests.cluster.audit import Audit
from tests.cluster.described import ASCEND, CLOUDS, FLEET, NVIDIA, STRANGERS
from tests.cluster.handed import Cluster
from tests.cluster.machines import NPU, Described, Seen, manifest
from tests.cluster.nodes import Nodes
from tests.cluster.seeing import mine, of, reading_account, watching
from tests.cluster.stage.daemon import Daemon
from tests.cluster.stage.scene import Scene
from tests.cluster.stage.waiting import until

ALL: Mapping[str, Described] = {**NVIDIA, **ASCEND, **CLOUDS, **STRANGERS}


async def rows_of(daemon: Daemon) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in await daemon.get("/api/v1/nodes")}


def wrong(name: str, zone: str, seen: Seen, row: Mapping[str, Any] | None) -> str:
    """Say how a row differs from what it should be; nothing, where it does not."""
    if row is None:
        return f"{name} is not shown"
    takes = None if seen.node_class is None else seen.takes
    ready = None if seen.node_class is None else True
    what = (row["node_class"], row["devices"], row["zone"], row["schedulable"], row["ready"])
    if what != (seen.node_class, seen.devices, zone, takes, ready):
        return f"{name}: {row} is not {seen} in {zone}"
    noted = seen.said in row["note"] if seen.said else not row["note"]
    return "" if noted else f"{name} says {row['note']!r}, not {seen.said!r}"


def labels_told(strangers: list[dict[str, Any]], nodes: Mapping[str, Described]) -> list[str]:
    """Name the machines of no class that do not show their maker's own labels."""
    found = {row["name"].partition("/")[0]: row["labels"] for row in strangers}
    return [
        name
        for name, one in nodes.items()
        if name in found and not one.telling.items() <= found[name].items()
    ]


async def test_every_machine_is_what_its_vendor_says_and_none_is_dropped(
    stage: Scene, audit: Audit
) -> None:
    nodes = {f"{stage.namespace}-{name}": one for name, one in ALL.items()}
    stage.nodes.names.extend(nodes)
    await asyncio.gather(
        *(stage.api.create(manifest(name, one, stage.namespace)) for name, one in nodes.items())
    )
    wished = {
        f"{name}/{seen.part}" if seen.part else name: (one.zone, seen)
        for name, one in nodes.items()
        for seen in one.seen
    }
    async with stage.daemon(FLEET, "--log", "info") as daemon:
        faults: list[str] = []

        async def as_described() -> bool:
            rows = await rows_of(daemon)
            faults[:] = [
                fault
                for name, (zone, seen) in wished.items()
                if (fault := wrong(name, zone, seen, rows.get(name)))
            ]
            return not faults

        await until(as_described, 40.0, lambda: "\n".join(faults))
        rows = await rows_of(daemon)
        strangers = (await daemon.get("/api/v1/fleet"))["unknown"]

    ours = {name for name in rows if name.startswith(f"{stage.namespace}-")}
    assert ours == set(wished)
    assert labels_told(strangers, nodes) == []
    assert audit.requests(stage.account.user)
    assert audit.writes(stage.account.user) == []


async def test_a_chip_that_is_set_aside_and_comes_back_while_we_look_is_seen_both_times(
    api: Api, cluster: Cluster, namespace: str, nodes: Nodes
) -> None:
    (node,) = await nodes.add("910B3", kubelet="kwok")
    reader = await reading_account(api, cluster, namespace)

    async with watching(reader.kubeconfig, namespace) as seen:
        for told, left in (("Ascend910-2,Ascend910-5", 6), ("", 8), (None, 8)):
            aside = {"metadata": {"annotations": {f"{NPU}-Unhealthy": told}}}
            await api.patch(f"/api/v1/nodes/{node}", aside)

            def as_told(view: FleetView, wished: int = left) -> bool:
                return bool(mine(view, [node])) and of(view, node).devices == wished

            await seen.until(as_told)
