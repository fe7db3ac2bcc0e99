"""The simulated world: a cluster, its engines and their front doors, driven by calls.

Synchronous and seeded, no clock and no asyncio: `advance(to)`, `observe()`, `apply(action)`.
`simulate` calls them in a tight loop, the embedded cluster calls them as its clock goes on.
"""

from controlplane.simulation.world.faults import (
    Fault,
    GenerationHangs,
    NodeDies,
    NodeReturns,
    PodFails,
    ZoneDies,
)
from controlplane.simulation.world.histograms import Histogram
from controlplane.simulation.world.spec import WorldSpec
from controlplane.simulation.world.tally import ClassTally, Tally
from controlplane.simulation.world.world import Observation, World

__all__ = [
    "ClassTally",
    "Fault",
    "GenerationHangs",
    "Histogram",
    "NodeDies",
    "NodeReturns",
    "Observation",
    "PodFails",
    "Tally",
    "World",
    "WorldSpec",
    "ZoneDies",
]
