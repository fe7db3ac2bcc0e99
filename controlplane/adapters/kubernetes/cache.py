"""One picture of nodes and pods, shared by all loops, and how far it can be trusted.

A broken watch leaves the last picture standing for a moment; after that there is none (law 1).
The pulse finds out about an API server that hangs without closing its connections.
"""

import asyncio
from collections.abc import Callable
from random import Random
from typing import NoReturn

from controlplane.adapters.kubernetes.client import Api
from controlplane.adapters.kubernetes.node_shape import Machine, RawNode, keep_node
from controlplane.adapters.kubernetes.pod_shape import Pod, RawPod, keep_pod
from controlplane.adapters.kubernetes.resources import NODES, PODS, Place
from controlplane.adapters.kubernetes.watching import Kind, Pauses, Watch
from controlplane.ports import UnavailableError

PULSE_S = 3.0
WAKE_GAP_S = 0.1  # a storm of changes wakes the loops so often at most


class Stir:
    """Tells the loops at once that something changed, and a storm of changes not each by itself."""

    def __init__(self, wake: Callable[[], None], gap_s: float = WAKE_GAP_S) -> None:
        """Wake by this."""
        self.wake = wake
        self._gap_s = gap_s
        self._next_at = 0.0
        self._due: asyncio.TimerHandle | None = None

    def __call__(self) -> None:
        """Wake now, or when the gap is over."""
        loop = asyncio.get_running_loop()
        if self._due is None:
            self._due = loop.call_at(max(loop.time(), self._next_at), self._fire)

    def _fire(self) -> None:
        self._due = None
        self._next_at = asyncio.get_running_loop().time() + self._gap_s
        self.wake()


class Cache:
    """Nodes of the cluster, pods of the namespace.

    With the pods of all namespaces it also sees which devices the pods of others hold there;
    without, only the scheduler knows.
    """

    def __init__(
        self,
        api: Api,
        namespace: str,
        wake: Callable[[], None],
        chance: Random,
        *,
        everywhere: bool = False,
        pauses: Pauses | None = None,
    ) -> None:
        """Know nothing until `run`. `everywhere`: pods of all namespaces, which must be granted."""
        self.namespace = namespace
        self.api = api
        pauses = pauses or Pauses()
        self._stale_s = pauses.stale_s
        self._alive_at: float | None = None
        stir = Stir(wake)
        self.stir = stir
        nodes = Kind(RawNode, keep_node)
        self.nodes = Watch(api, Place(NODES), nodes, stir, chance, pauses)
        pods = Kind(RawPod, keep_pod)
        self.pods = Watch(
            api, Place(PODS, None if everywhere else namespace), pods, stir, chance, pauses
        )

    @property
    def age_s(self) -> float:
        """Give how old the picture is at most, whichever watch is the older."""
        return max(self.age_of(self.nodes), self.age_of(self.pods))

    def age_of(self, watch: Watch[RawNode, Machine] | Watch[RawPod, Pod]) -> float:
        """Give how old one picture is at most."""
        silent = 0.0
        if self._alive_at is not None:
            silent = asyncio.get_running_loop().time() - self._alive_at
        # Between two beats nothing is wrong yet.
        return max(watch.age_s, silent - 2 * PULSE_S, 0.0)

    def trusted(self, watch: Watch[RawNode, Machine] | Watch[RawPod, Pod]) -> bool:
        """Say whether its picture may be taken for what is."""
        return watch.synced and not watch.forbidden and self.age_of(watch) <= self._stale_s

    def why_not(self, watch: Watch[RawNode, Machine] | Watch[RawPod, Pod]) -> str:
        """Say in one sentence why a picture is not trusted."""
        if watch.failure:
            return watch.failure
        return f"the API server at {self.api.host} has not answered for {self.age_of(watch):.0f} s"

    async def ready(self, within_s: float) -> bool:
        """Wait for the first answer of both watches; say whether both pictures are whole."""
        try:
            async with asyncio.timeout(within_s):
                await self.nodes.first.wait()
                await self.pods.first.wait()
        except TimeoutError:
            pass
        return self.nodes.synced and self.pods.synced

    async def run(self) -> NoReturn:
        """Watch for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.nodes.run(), name="watch-nodes")
            group.create_task(self.pods.run(), name="watch-pods")
            group.create_task(self._pulse(), name="pulse")
        raise RuntimeError("the watches came to an end")

    async def _pulse(self) -> NoReturn:
        loop = asyncio.get_running_loop()
        self._alive_at = loop.time()
        while True:
            try:
                await self.api.alive(PULSE_S)
                self._alive_at = loop.time()
            except UnavailableError:  # the age says it
                pass
            await asyncio.sleep(PULSE_S)
