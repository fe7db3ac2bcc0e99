"""The world behind the ports: what `serve` runs on where no cluster is configured.

The pump lets the world follow the clock in small slices, so that the event loop is never blocked
for long however fast the world's time runs. Something worth a look (a request turned away, a
replica that became healthy) wakes the loops, as watches and the gateway do on a real cluster.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from math import ceil
from typing import NoReturn

from controlplane.clock import Clock, stopwatch
from controlplane.decide.scaling.arbitrate import Free
from controlplane.decide.scaling.variants import variants
from controlplane.domain.actions import Action
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Outcome
from controlplane.domain.fleet import FleetView
from controlplane.domain.load import ModelLoad
from controlplane.domain.policies import ScalingPolicy
from controlplane.domain.quantities import ClassName, Instant, ModelName
from controlplane.domain.queues import Queues
from controlplane.simulation.demand import MEAN_SHARE, demand
from controlplane.simulation.doors import Doors
from controlplane.simulation.world import World, WorldSpec
from controlplane.simulation.world.nodes import machines_of

PUMP_S = 0.05  # of real time
SLICE_S = 0.02  # of real time, after which others get their turn


def embedded(catalogue: Catalogue, clock: Clock, seed: int) -> "Embedded":
    """Build a world from a fleet file: its pools, its models, traces as load."""
    spec = WorldSpec(
        catalogue=catalogue,
        start=clock.now(),
        initial=_initial(catalogue),
        initial_where_it_fits=True,
    )
    return Embedded(World(spec, demand(catalogue, seed), seed), clock)


def _initial(catalogue: Catalogue) -> dict[ModelName, dict[ClassName, int]]:
    """Let every model begin with about what its mean load needs, on its cheapest class.

    Where not all of it fits each gets its minimum first, the important before the others; who
    finds no room waits for it.
    """
    table = variants(catalogue)
    nodes = [machine.seen() for machine in machines_of(catalogue)]
    free = Free(nodes, {node.name: node.devices for node in nodes})
    placed: dict[ModelName, dict[ClassName, int]] = {}
    by_importance = sorted(catalogue.models.items(), key=lambda item: (item[1].importance, item[0]))
    for at_first in (_least, _at_first):
        for name, model in by_importance:
            for facts in table.facts[name][:1]:
                held = placed.setdefault(name, {facts.node_class: 0})
                more = at_first(model.policy.scaling) - held[facts.node_class]
                held[facts.node_class] += free.take(facts.node_class, facts.devices, more)
    return placed


def _least(policy: ScalingPolicy) -> int:
    return max(1, policy.min)


def _at_first(policy: ScalingPolicy) -> int:
    return max(_least(policy), ceil(MEAN_SHARE * policy.max))


class Embedded:
    """One world as `Cluster`, `Signals` and `QueueReads`."""

    def __init__(self, world: World, clock: Clock, *, wakes: bool = True) -> None:
        """Put a world behind the ports; `wakes` False leaves the loops to their periods."""
        self._world = world
        self._clock = clock
        self._wakes = wakes
        self._doors = Doors(world.now)
        self.wake: Callable[[], None] = lambda: None

    async def observe(self) -> FleetView:
        """Give nodes and pods as they are now."""
        await self._catch_up(self._clock.now())
        return self._world.view()

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        """Give every model's load; rates are since the last time this was asked."""
        await self._catch_up(self._clock.now())
        return self._world.loads()

    async def queues(self) -> Queues:
        """Give who waits, and what became of those who came."""
        await self._catch_up(self._clock.now())
        return self._doors.queues(self._world.stations, self._world.now)

    def shut(self, models: Collection[ModelName]) -> None:
        """Refuse new requests for these models, and for no others."""
        self._world.shut(models)

    async def apply(self, action: Action) -> Outcome:
        """Carry out one action."""
        await self._catch_up(self._clock.now())
        return self._world.apply(action)

    async def swap_catalogue(self, catalogue: Catalogue) -> None:
        """Let the world know the catalogue that is now in force."""
        self._world.swap_catalogue(catalogue)

    async def pump(self) -> NoReturn:
        """Let the world follow the clock, for ever."""
        while True:
            began = stopwatch()
            behind = self._clock.now()
            while self._world.now < behind:
                if self._advance(self._slice(behind)):
                    self.wake()
                if stopwatch() - began > SLICE_S:
                    await asyncio.sleep(0)
                    began = stopwatch()
            self._doors.note(self._world.stations, self._world.now)
            await asyncio.sleep(PUMP_S)

    def _advance(self, to: Instant) -> bool:
        """Go on up to `to`; say whether something should be looked at."""
        woken = False
        while self._world.now < to:
            reached = self._world.advance(to, wake=self._wakes and not woken)
            woken = woken or reached < to
        return woken

    async def _catch_up(self, to: Instant) -> None:
        """What a loop sees is up to now, not up to the pump's last turn.

        Where the pump is far behind (a fast world on a busy machine) others get their turn on the
        way. Without wakes the order of everything is kept, so that a run can be repeated.
        """
        began = stopwatch()
        while self._world.now < to:
            self._world.advance(self._slice(to) if self._wakes else to, wake=False)
            if stopwatch() - began > SLICE_S and self._world.now < to:
                await asyncio.sleep(0)
                began = stopwatch()

    def _slice(self, to: Instant) -> Instant:
        """Give how far the world goes in one piece, on its way to that instant."""
        return min(to, self._world.now + max(0.05, 0.03 * self._clock.rate))
