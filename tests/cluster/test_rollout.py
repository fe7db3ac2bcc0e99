"""A changed catalogue replaces every pod on a real cluster, and service never dips."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from controlplane.decide.spare.cycle import cycle
from controlplane.decide.spare.inputs import SpareMemory, SpareSeen
from controlplane.domain.actions import Ensure, SetReplicas
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import DONE, Standing
from controlplane.domain.policies import SparePolicy
from controlplane.domain.replicas import Lane
from tests.cluster.api import Api, Manifest
from tests.cluster.handed import Cluster
from tests.cluster.nodes import Nodes
from tests.cluster.writer import CHAT, NAME, T4, Writer, a_catalogue, up, writer

PLAN = {CHAT: Standing(replicas=1, split={T4: 1}, since=0.0)}


def a_quick(image: str) -> Catalogue:
    """New pods count as there after eleven seconds, not after seventy."""
    made = a_catalogue(image)
    model = made.models[CHAT]
    policy = replace(model.policy, spare=SparePolicy(count=0, warmup_limit_s=0.1))
    return replace(made, models={CHAT: replace(model, policy=policy)})


async def spare(by: Writer) -> None:
    """Run one cycle of the spare loop."""
    view = await by.cluster.observe()
    seen = SpareSeen(at=view.at, view=view, plan=PLAN)
    choices, _ = cycle(seen, by.scope.catalogue, by.scope.table, SpareMemory())
    for choice in choices:
        for action in choice.actions:
            if await by.cluster.apply(action) != DONE:
                return


def ready(slices: list[Manifest]) -> int:
    return sum(
        1
        for each in slices
        for endpoint in each.get("endpoints") or ()
        if endpoint["conditions"].get("ready")
    )


@asynccontextmanager
async def watching(api: Api, namespace: str) -> AsyncIterator[list[int]]:
    """Note, from the moment one is ready, how many endpoints are ready after each change."""
    path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    served: list[int] = []
    one_is_ready = asyncio.Event()

    async def looks() -> None:
        slices: dict[str, Manifest] = {}
        async for _, seen in api.watch(path):
            slices[seen["metadata"]["name"]] = seen
            count = ready(list(slices.values()))
            if served or count:
                served.append(count)
                one_is_ready.set()

    looking = asyncio.create_task(looks())
    try:
        await asyncio.wait_for(one_is_ready.wait(), 20.0)
        yield served
    finally:
        looking.cancel()
        await asyncio.wait([looking])


async def test_every_pod_is_replaced_and_one_always_serves(
    cluster: Cluster, api: Api, namespace: str, nodes: Nodes
) -> None:
    """Behaviour R5, for the whole of a rollout."""
    async with writer(cluster.admin_kubeconfig, namespace, a_quick("tests/answering")) as by:
        await nodes.add("T4")
        await by.cluster.apply(Ensure("Service", "chat"))
        await by.cluster.apply(SetReplicas(CHAT, T4, 1))
        (old,) = await by.replicas(up(1))
        await spare(by)
        async with watching(api, namespace) as served:
            await by.cluster.swap_catalogue(a_quick("tests/answering:2"))
            await by.cluster.standing()
            assert await by.cluster.apply(Ensure("Deployment", NAME)) == DONE
            async with asyncio.timeout(60.0):
                while by.scope.pod(old.name) is not None:
                    by.stirred.clear()
                    await spare(by)
                    await asyncio.wait([asyncio.create_task(by.stirred.wait())], timeout=1.0)
            (new,) = await by.replicas(up(1))

    assert new.name != old.name
    assert new.lane is Lane.SERVING
    assert not new.outdated
    assert min(served) >= 1
