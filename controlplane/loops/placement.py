"""The placement loop: moves small models off big cards that others wait for."""

from collections.abc import Callable, Mapping

import msgspec

from controlplane.decide.placement.relocate import PlacementMemory, PlacementSeen, cycle
from controlplane.decide.scaling.inputs import ScalingMemory
from controlplane.domain.decisions import Choice, Outcome
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.loops.acting import Gate
from controlplane.loops.fleet import Fleet
from controlplane.loops.reconcile import Loop

EVERY_S = 15.0


class Moves:
    """The moves in force: written by placement, honoured by scaling."""

    def __init__(self) -> None:
        """Start with none."""
        self.memory = PlacementMemory()
        self.scaling = ScalingMemory()  # what scaling remembered last: who waits for devices

    def waiting(self, fleet: Fleet) -> Mapping[ModelName, Mapping[ClassName, int]]:
        """Give the replicas that models want and cannot get, by the classes they fit."""
        return waiting(self.scaling, fleet)


def waiting(scaling: ScalingMemory, fleet: Fleet) -> Mapping[ModelName, Mapping[ClassName, int]]:
    """Read from scaling's memory who waits, and on which classes that could be cured."""
    wants: dict[ModelName, Mapping[ClassName, int]] = {}
    for name, memory in scaling.models.items():
        missing = memory.wanted - (memory.target or 0)
        if memory.waiting_since is not None and missing > 0 and name in fleet.table.facts:
            wants[name] = {facts.node_class: missing for facts in fleet.table.facts[name]}
    return wants


def placement_loop(
    fleet: Fleet, gate: Gate, moves: Moves, wake_scaling: Callable[[], None]
) -> Loop[PlacementSeen, PlacementMemory]:
    """Build the loop. Its decisions take effect through `moves`, in scaling's next cycle."""

    async def observe() -> PlacementSeen:
        return PlacementSeen(
            at=fleet.clock.now(),
            view=await fleet.cluster.observe(),
            plan=fleet.in_force.plan,
            waiting=moves.waiting(fleet),
        )

    def decide(
        look: PlacementSeen, memory: PlacementMemory
    ) -> tuple[tuple[Choice, ...], PlacementMemory]:
        return cycle(look, fleet.catalogue, memory)

    async def act(choice: Choice) -> Outcome:
        raise AssertionError(f"placement acts through its memory, not on {choice.subject}")

    def put(_seen: PlacementSeen, choices: object, memory: PlacementMemory) -> None:
        changed = memory.moves != moves.memory.moves
        orders = {name: order for name, order in memory.orders.items() if gate.acts(name)}
        moves.memory = msgspec.structs.replace(memory, orders=orders)
        if changed and choices:
            wake_scaling()

    def restore(memory: PlacementMemory) -> None:
        moves.memory = memory

    return Loop(
        name="placement",
        every_s=EVERY_S,
        observe=observe,
        decide=decide,
        act=act,
        fresh=PlacementMemory(),
        restore=restore,
        seen=put,
        subjects=lambda: len(fleet.catalogue.models),
    )
