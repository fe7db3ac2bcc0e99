"""Seeing a cluster as the product does: an account that may read, a cache, its view."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from controlplane.adapters.kubernetes.cache import Cache
from controlplane.adapters.kubernetes.client import open_api
from controlplane.adapters.kubernetes.pod_shape import Pod
from controlplane.adapters.kubernetes.view import Sight
from controlplane.adapters.kubernetes.watching import Pauses
from controlplane.domain import marks
from controlplane.domain.fleet import FleetView, Node
from controlplane.domain.samples import NoData
from tests.adapters.kubernetes.objects import CATALOGUE, GPU
from tests.adapters.kubernetes.told import Told
from tests.cluster.accounts import Account, grant, issue
from tests.cluster.api import Api, Manifest
from tests.cluster.handed import Cluster
from tests.cluster.stage import waiting
from tests.cluster.workloads import pod_spec

READ = ["list", "watch"]
PODS_RULE: Manifest = {"apiGroups": [""], "resources": ["pods"], "verbs": READ}
NODES_RULE: Manifest = {"apiGroups": [""], "resources": ["nodes"], "verbs": READ}
QUICK = Pauses(stale_s=1.0, first_s=0.05, longest_s=0.2, forbidden_s=0.2, page=2)
OURS = {marks.MODEL: "chat", marks.CLASS: "T4", marks.LANE: "serving"}


@dataclass
class Seen:
    """A cache that watches, how often it woke the loops, and what is seen through it."""

    cache: Cache
    wakes: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.sight = Sight(self.cache)
        self.cache.stir.wake = self.wake

    def wake(self) -> None:
        self.wakes += 1
        self.changed.set()

    async def view(self) -> FleetView:
        return await self.sight.view(CATALOGUE, Told(), 1000.0)

    async def until(self, holds: Callable[[FleetView], bool], within_s: float = 20) -> FleetView:
        """Look whenever the cache wakes us, and never otherwise."""
        async with asyncio.timeout(within_s):
            while True:
                self.changed.clear()
                view = await self.view()
                if holds(view):
                    return view
                await self.changed.wait()


@asynccontextmanager
async def watching(
    kubeconfig: Path, namespace: str, pauses: Pauses = QUICK, *, everywhere: bool = False
) -> AsyncIterator[Seen]:
    api = await open_api(kubeconfig)
    cache = Cache(api, namespace, lambda: None, Random(1), everywhere=everywhere, pauses=pauses)
    seen = Seen(cache)
    task = asyncio.create_task(cache.run())
    try:
        await cache.ready(20)
        yield seen
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await api.close()


async def reading_account(api: Api, cluster: Cluster, namespace: str) -> Account:
    """Give an account that may read the pods of its namespace and all nodes, as the daemon may."""
    await grant(api, namespace, "reader", [PODS_RULE])
    await grant(api, namespace, "reader", [NODES_RULE], everywhere=True)
    return await issue(api, cluster, namespace, "reader")


def asking(devices: int) -> Manifest:
    spec = pod_spec(None)
    spec["containers"][0]["resources"] = {"limits": {GPU: str(devices)}}
    return spec


def of(view: FleetView, name: str) -> Node:
    assert not isinstance(view.nodes, NoData)
    return next(node for node in view.nodes if node.name == name)


def mine(view: FleetView, names: list[str]) -> list[str]:
    assert not isinstance(view.nodes, NoData)
    return sorted(node.name for node in view.nodes if node.name in names)


async def until(holds: Callable[[], bool], within_s: float = 20) -> None:
    """Look again and again: for what no cache wakes us for, because it is about the cache."""

    async def looked() -> bool:
        return holds()

    await waiting.until(looked, within_s)


def pod_of(seen: Seen) -> Pod:
    """Give the only pod there is."""
    (found,) = seen.cache.pods.items.values()
    return found
