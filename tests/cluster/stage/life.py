"""The daemon's loops in this process, dying at a chosen write; what they stored lives on."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

from controlplane.adapters.engines.fleet import EngineFleet
from controlplane.adapters.kubernetes.cache import Cache
from controlplane.adapters.kubernetes.client import open_api
from controlplane.adapters.kubernetes.cluster import KubernetesCluster
from controlplane.adapters.kubernetes.fencing import Fenced
from controlplane.adapters.kubernetes.scope import Scope
from controlplane.adapters.kubernetes.view import Sight
from controlplane.clock import Clock
from controlplane.decide.placement.relocate import PlacementMemory
from controlplane.domain.catalogue import Catalogue
from controlplane.loops.acting import Gate
from controlplane.loops.fleet import Fleet
from controlplane.loops.in_memory import (
    MemoryJournal,
    MemoryLoopMemory,
    MemoryOverrides,
    SoleLeader,
)
from controlplane.loops.reconcile import Shell, reconcile
from controlplane.loops.scaling import scaling_loop
from controlplane.loops.spare import spare_loop
from controlplane.loops.workloads import workloads_loop
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.metrics import Metrics


class DeadError(Exception):
    """The daemon was killed before this write."""


class Mortal(Fenced):
    """Lets so many writes through; at the next one the daemon dies."""

    def __init__(self, fenced: Fenced, writes: int, dead: asyncio.Event) -> None:
        self.__dict__.update(fenced.__dict__)
        self._left, self._dead = writes, dead

    def check(self) -> None:
        """Count a write."""
        super().check()
        self._left -= 1
        if self._left < 0:
            self._dead.set()
            raise DeadError


class Stored:
    """What survives a daemon."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.memory = MemoryLoopMemory()
        self.overrides = MemoryOverrides()


async def live(
    kubeconfig: Path, namespace: str, catalogue: Catalogue, stored: Stored, *, writes: int,
    until: Callable[[], Awaitable[bool]],
) -> bool:  # fmt: skip
    """Run the loops until it holds or until they die; say whether it holds."""
    clock, dead = Clock(), asyncio.Event()
    async with AsyncExitStack() as stack:
        api = await open_api(kubeconfig)
        stack.push_async_callback(api.close)
        shell = _shell(clock, stored)
        cache = Cache(api, namespace, lambda: shell.wake("scaling", "spare"), Random(1))
        engines = await stack.enter_async_context(EngineFleet(catalogue, clock))
        engines.wake = lambda: shell.wake("scaling", "spare")
        mortal = Mortal(Fenced(api, SoleLeader()), writes, dead)
        cluster = KubernetesCluster(Scope(api, mortal, Sight(cache), catalogue), engines, clock)
        fleet = Fleet(
            clock=clock,
            cluster=cluster,
            signals=engines,
            overrides=stored.overrides,
            catalogue=catalogue,
        )
        watching = asyncio.ensure_future(cache.run())
        await cache.ready(10.0)
        loops = [asyncio.ensure_future(loop) for loop in _loops(fleet, shell, cluster)]
        held = asyncio.ensure_future(_wait_for(until))
        dying = asyncio.ensure_future(dead.wait())
        await asyncio.wait({held, dying}, return_when=asyncio.FIRST_COMPLETED)
        holds = held.done()
        for task in (watching, held, dying, *loops):
            task.cancel()
        await asyncio.gather(watching, held, dying, *loops, return_exceptions=True)
    return holds


def _shell(clock: Clock, stored: Stored) -> Shell:
    return Shell(
        clock=clock,
        journal=stored.journal,
        memory=stored.memory,
        heartbeats=Heartbeats(),
        metrics=Metrics(),
        catalogue_version=lambda: 1,
    )


def _loops(fleet: Fleet, shell: Shell, cluster: KubernetesCluster) -> list[Awaitable[None]]:
    gate = Gate(acting=True)
    scaling = scaling_loop(
        fleet, gate, PlacementMemory, lambda: shell.wake("spare"), lambda *_: None
    )
    return [
        reconcile(scaling, shell),
        reconcile(spare_loop(fleet, gate), shell),
        reconcile(workloads_loop(fleet, gate, cluster), shell),
    ]


async def _wait_for(holds: Callable[[], Awaitable[bool]]) -> None:
    while True:
        if await holds():
            return
        await asyncio.sleep(0.1)
