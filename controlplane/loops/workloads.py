"""The workloads loop: what stands in a real cluster is kept as the catalogue says.

It runs beside spare, which sizes Deployments and flips lanes; here the objects themselves are made
and kept. It speaks through the same journal, so advisory mode shows what it would create.
"""

from controlplane.decide.workloads.cycle import WorkloadsMemory, cycle
from controlplane.domain.workloads import WorkloadsView
from controlplane.loops.acting import Gate, on_cluster
from controlplane.loops.fleet import Fleet
from controlplane.loops.reconcile import Loop
from controlplane.ports import Workloads

EVERY_S = 15.0


def workloads_loop(
    fleet: Fleet, gate: Gate, workloads: Workloads
) -> Loop[WorkloadsView, WorkloadsMemory]:
    """Build the loop."""

    async def observe() -> WorkloadsView:
        gate.overrides = await fleet.overrides.overrides()
        return await workloads.standing()

    return Loop(
        name="workloads",
        every_s=EVERY_S,
        observe=observe,
        decide=cycle,
        act=on_cluster(gate, fleet.cluster),
        fresh=WorkloadsMemory(),
        subjects=lambda: len(fleet.catalogue.models),
    )
