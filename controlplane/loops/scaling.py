"""The scaling loop: loads in, targets in force out. It writes to no cluster."""

from collections.abc import Callable, Sequence

from controlplane.decide.placement.relocate import PlacementMemory
from controlplane.decide.scaling.cycle import cycle
from controlplane.decide.scaling.inputs import ScalingMemory, ScalingSeen
from controlplane.decide.scaling.variants import VariantTable
from controlplane.domain.actions import SetTarget
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.loops.acting import Gate
from controlplane.loops.fleet import Fleet
from controlplane.loops.reconcile import Loop

EVERY_S = 5.0


def scaling_loop(
    fleet: Fleet,
    gate: Gate,
    moves: Callable[[], PlacementMemory],
    wake_spare: Callable[[], None],
    seen: Callable[[ScalingSeen, Sequence[Choice], ScalingMemory], None],
) -> Loop[ScalingSeen, ScalingMemory]:
    """Build the loop."""

    async def observe() -> ScalingSeen:
        gate.overrides = await fleet.overrides.overrides()
        loads = await fleet.signals.loads()
        view = await fleet.cluster.observe()
        return ScalingSeen(
            at=fleet.clock.now(),
            view=view,
            loads=loads,
            overrides=gate.overrides,
            moves=moves().moves,
        )

    def decide(
        look: ScalingSeen, memory: ScalingMemory
    ) -> tuple[tuple[Choice, ...], ScalingMemory]:
        catalogue: Catalogue = fleet.catalogue
        table: VariantTable = fleet.table
        return cycle(look, catalogue, table, memory)

    async def act(choice: Choice) -> Outcome:
        held = gate.closed(choice.subject)
        if held is not None:
            return held
        for action in choice.actions:
            if isinstance(action, SetTarget):
                model = fleet.catalogue.models.get(action.model)
                if model is None:  # a new catalogue came into force since it was decided
                    note = f"{action.model} is no longer in the catalogue"
                    return Outcome(Ending.REFUSED, note)
                fleet.in_force.put(action, fleet.clock.now(), model.importance)
        wake_spare()
        return Outcome(Ending.DONE, "in force")

    return Loop(
        name="scaling",
        every_s=EVERY_S,
        observe=observe,
        decide=decide,
        act=act,
        fresh=ScalingMemory(),
        restore=lambda memory: fleet.in_force.restore(memory, fleet.catalogue),
        seen=seen,
        subjects=lambda: len(fleet.catalogue.models),
    )
