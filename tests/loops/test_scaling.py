"""The scaling loop's act, when the catalogue changes under it."""

from controlplane.clock import Clock
from controlplane.decide.placement.relocate import PlacementMemory
from controlplane.domain.decisions import Ending
from controlplane.domain.quantities import ModelName
from controlplane.loops.acting import Gate
from controlplane.loops.fleet import Fleet
from controlplane.loops.in_memory import MemoryOverrides
from controlplane.loops.scaling import scaling_loop
from controlplane.simulation.embedded import Embedded
from controlplane.simulation.world import World, WorldSpec
from tests.builders import A100, CHAT, a_catalogue, a_model

OTHER = ModelName("other")


async def test_a_model_that_left_between_deciding_and_acting_gets_no_target() -> None:
    both = a_catalogue({CHAT: a_model(), OTHER: a_model()})
    world = World(WorldSpec(catalogue=both, start=0.0, initial={CHAT: {A100: 1}}), {}, 1)
    clock = Clock(start=0.0)
    cluster = Embedded(world, clock)
    fleet = Fleet(
        clock=clock,
        cluster=cluster,
        signals=cluster,
        overrides=MemoryOverrides(),
        catalogue=both,
    )
    loop = scaling_loop(fleet, Gate(acting=True), PlacementMemory, lambda: None, lambda *_: None)
    choices, _ = loop.decide(await loop.observe(), loop.fresh)

    fleet.swap(a_catalogue({OTHER: a_model()}))
    endings = {choice.subject: (await loop.act(choice)).ending for choice in choices}

    assert endings == {CHAT: Ending.REFUSED, OTHER: Ending.DONE}
    assert set(fleet.in_force.plan) == {OTHER}
