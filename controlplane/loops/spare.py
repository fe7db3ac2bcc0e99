"""The spare loop: it alone sizes Deployments and flips lanes, towards the plan in force."""

from controlplane.decide.spare.cycle import cycle
from controlplane.decide.spare.inputs import SpareMemory, SpareSeen
from controlplane.domain.decisions import Choice
from controlplane.loops.acting import Gate, on_cluster
from controlplane.loops.fleet import Fleet
from controlplane.loops.reconcile import Loop

EVERY_S = 5.0


def spare_loop(fleet: Fleet, gate: Gate) -> Loop[SpareSeen, SpareMemory]:
    """Build the loop."""

    async def observe() -> SpareSeen:
        gate.overrides = await fleet.overrides.overrides()
        view = await fleet.cluster.observe()
        return SpareSeen(
            at=fleet.clock.now(),
            view=view,
            plan=fleet.in_force.plan,
            overrides=gate.overrides,
        )

    def decide(look: SpareSeen, memory: SpareMemory) -> tuple[tuple[Choice, ...], SpareMemory]:
        return cycle(look, fleet.catalogue, fleet.table, memory)

    return Loop(
        name="spare",
        every_s=EVERY_S,
        observe=observe,
        decide=decide,
        act=on_cluster(gate, fleet.cluster),
        fresh=SpareMemory(),
        subjects=lambda: len(fleet.catalogue.models),
    )
