"""A virtual day of every loop for the seven models of the example fleet, journal in memory.

Limit: 20 s of an idle machine. A tenth of the day is run and multiplied; the world is there without
requests, for the loops are what is measured (`bench_simulate` measures requests). Every round does
the same, so each step counts with its fastest round: others work on this machine too.
"""

import asyncio
from time import process_time

from controlplane.clock import Clock
from controlplane.decide.placement.relocate import PlacementMemory
from controlplane.decide.scaling.inputs import ScalingMemory
from controlplane.loops.acting import Gate
from controlplane.loops.fleet import Fleet
from controlplane.loops.in_memory import (
    MemoryJournal,
    MemoryLedger,
    MemoryLoopMemory,
    MemoryOverrides,
)
from controlplane.loops.metering import Metering
from controlplane.loops.placement import Moves, placement_loop
from controlplane.loops.reconcile import Shell, cycle
from controlplane.loops.scaling import scaling_loop
from controlplane.loops.showing import Showing
from controlplane.loops.spare import spare_loop
from controlplane.ports import CatalogueVersion
from controlplane.settings import load_catalogue
from controlplane.shipped import shipped
from controlplane.simulation.embedded import Embedded
from controlplane.simulation.world import World, WorldSpec
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.history import History
from controlplane.telemetry.metrics import Metrics
from tests.benchmarks.yardstick import additions_ns

DAY_S, PART, STEP_S, ROUNDS = 86_400.0, 10, 5.0, 3


class Stepped(Clock):
    """A clock that goes when it is told to."""

    at = 0.0

    def now(self) -> float:
        """Give the time it was told."""
        return self.at


async def part_of_a_day() -> list[float]:
    """Run a part of the day and give the CPU seconds of each step."""
    catalogue = load_catalogue(shipped("examples") / "fleet.yaml")
    clock, journal, memory = Stepped(), MemoryJournal(), MemoryLoopMemory()
    world = World(WorldSpec(catalogue=catalogue, start=0.0, initial={}), {}, 1)
    cluster = Embedded(world, clock, wakes=False)
    fleet = Fleet(
        clock=clock,
        cluster=cluster,
        signals=cluster,
        overrides=MemoryOverrides(),
        catalogue=catalogue,
    )
    history, metrics = History(), Metrics()
    shell = Shell(
        clock=clock,
        journal=journal,
        memory=memory,
        heartbeats=Heartbeats(),
        metrics=metrics,
        catalogue_version=lambda: 1,
    )
    gate, moves = Gate(acting=True), Moves()
    version = CatalogueVersion(version=1, at=0.0, source="bench", text="", by="bench")
    meter = Metering(fleet, MemoryLedger(), history, metrics, lambda: version)
    showing = Showing(fleet, history, metrics)
    scaling = scaling_loop(fleet, gate, PlacementMemory, lambda: None, showing)
    spare, placement = spare_loop(fleet, gate), placement_loop(fleet, gate, moves, lambda: None)
    metering = meter.loop()
    remembered, kept = ScalingMemory(), spare.fresh
    placed, billed = placement.fresh, metering.fresh
    took = []
    for step in range(int(DAY_S / PART / STEP_S)):
        began = process_time()
        clock.at = step * STEP_S
        remembered, _ = await cycle(scaling, shell, remembered, save=step % 3 == 0)
        kept, _ = await cycle(spare, shell, kept, save=step % 3 == 0)
        if step % 3 == 0:
            placed, _ = await cycle(placement, shell, placed)
        if step % 6 == 0:
            billed, _ = await cycle(metering, shell, billed)
        took.append(process_time() - began)
    return took


def main() -> None:
    """Print the day's seconds, and the yardstick's."""
    rounds = [(asyncio.run(part_of_a_day()), additions_ns()) for _ in range(ROUNDS)]
    parts, additions = zip(*rounds, strict=True)
    day = sum(map(min, zip(*parts, strict=True))) * PART
    print(f"a virtual day of all loops, seven models: {day:.1f} s (limit 20 s)")
    print(f"  as long as {day / min(additions):.2f} thousand million additions")


if __name__ == "__main__":
    main()
