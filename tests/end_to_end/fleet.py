"""A small world and the real loops around it, in virtual time and with everything in memory."""

import asyncio
from collections.abc import Awaitable

from controlplane.clock import Clock
from controlplane.decide.placement.relocate import PlacementMemory
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.loops.acting import Gate
from controlplane.loops.fleet import Fleet
from controlplane.loops.in_memory import MemoryJournal, MemoryLoopMemory, MemoryOverrides
from controlplane.loops.reconcile import Shell, reconcile
from controlplane.loops.scaling import scaling_loop
from controlplane.loops.spare import spare_loop
from controlplane.simulation.arrivals import Arrivals, Bursts
from controlplane.simulation.embedded import Embedded
from controlplane.simulation.service_times import Exponential, ServiceTime
from controlplane.simulation.streams import Stream, StreamTraffic
from controlplane.simulation.world import World, WorldSpec
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.metrics import Metrics
from tests.builders import A100, CHAT, a_catalogue, a_model, a_policy

BURST = Bursts(rate=500.0, length_s=150.0, starts_s=(100.0,), quiet_rate=100.0)


def a_small_fleet(**policy: object) -> Catalogue:
    """One chat model, 14 slots a replica, 16 devices."""
    return a_catalogue({CHAT: a_model(policy=a_policy(**{"min": 1, "max": 8, **policy}))})


def a_world(catalogue: Catalogue, serving: int = 2, seed: int = 7) -> World:
    """A world with a burst of five times its load at 100 s."""
    stream = Stream(
        priority=Priority.HIGH,
        arrivals=Arrivals(bursts=BURST),
        service=ServiceTime(exponential=Exponential(mean_s=0.125)),
    )
    traffic = {CHAT: StreamTraffic(CHAT, {"all": stream}, {}, seed, until=1_000.0)}
    initial: dict[ModelName, dict[ClassName, int]] = {CHAT: {A100: serving}}
    spec = WorldSpec(
        catalogue=catalogue, start=0.0, initial=initial, image_cached=True, warm_up_request_s=0.0
    )
    return World(spec, traffic, seed)


class Daemon:
    """The loops around a world. A second one around the same world is a restart."""

    def __init__(self, world: World, catalogue: Catalogue, before: "Daemon | None" = None) -> None:
        """Take over what the daemon before stored, if there was one."""
        self.clock: Clock = before.clock if before else Clock(1.0, start=0.0)
        self.journal: MemoryJournal = before.journal if before else MemoryJournal()
        self.memory: MemoryLoopMemory = before.memory if before else MemoryLoopMemory()
        self.overrides: MemoryOverrides = before.overrides if before else MemoryOverrides()
        self.cluster = Embedded(world, self.clock, wakes=False)
        self.fleet = Fleet(
            clock=self.clock,
            cluster=self.cluster,
            signals=self.cluster,
            overrides=self.overrides,
            catalogue=catalogue,
        )
        self.gate = Gate(acting=True)
        self.shell = Shell(
            clock=self.clock,
            journal=self.journal,
            memory=self.memory,
            heartbeats=Heartbeats(),
            metrics=Metrics(),
            catalogue_version=lambda: 1,
        )

    def loops(self) -> list[Awaitable[None]]:
        scaling = scaling_loop(
            self.fleet,
            self.gate,
            PlacementMemory,
            lambda: self.shell.wake("spare"),
            lambda _seen, _choices, _memory: None,
        )
        return [
            reconcile(scaling, self.shell),
            reconcile(spare_loop(self.fleet, self.gate), self.shell),
        ]

    async def run(self, seconds: float) -> None:
        """Run for so long, then be killed."""
        tasks = [asyncio.ensure_future(loop) for loop in self.loops()]
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
