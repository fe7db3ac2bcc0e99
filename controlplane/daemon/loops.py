"""Every loop with what it needs: one gate before all acts, each told what the others must know."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, NoReturn

from controlplane.adapters.sql.store import Store
from controlplane.clock import Clock
from controlplane.daemon.fleet_file import Applying, FleetFile
from controlplane.daemon.surroundings import Surroundings
from controlplane.decide.scaling.inputs import ScalingMemory, ScalingSeen
from controlplane.domain.decisions import Choice
from controlplane.domain.quantities import ModelName
from controlplane.loops.acting import Gate
from controlplane.loops.catalogue import CatalogueMemory, CatalogueSeen, catalogue_loop
from controlplane.loops.fleet import Fleet
from controlplane.loops.metering import Metering
from controlplane.loops.placement import Moves, placement_loop
from controlplane.loops.reconcile import Loop, Shell, reconcile
from controlplane.loops.scaling import scaling_loop
from controlplane.loops.showing import Showing
from controlplane.loops.spare import spare_loop
from controlplane.loops.workloads import workloads_loop
from controlplane.settings import ServeOptions
from controlplane.telemetry.history import History


def gate_of(options: ServeOptions, around: Surroundings, fleet: Fleet) -> Gate:
    """Advise or act; a model may choose for itself, but nobody acts under --mode advise."""

    def mode(subject: str) -> Literal["act", "advise"] | None:
        model = fleet.catalogue.models.get(ModelName(subject))
        return None if model is None or options.mode == "advise" else model.mode

    return Gate(acting=around.acts if options.mode is None else options.mode == "act", modes=mode)


def fleet_loops(
    fleet: Fleet,
    gate: Gate,
    shell: Shell,
    history: History,
    told: Callable[[ScalingSeen, ScalingMemory], None],
) -> list[Awaitable[NoReturn]]:
    """Scaling decides, spare makes it so, placement moves who is in the way."""
    moves, showing = Moves(), Showing(fleet, history, shell.metrics)

    def seen(look: ScalingSeen, choices: Sequence[Choice], memory: ScalingMemory) -> None:
        moves.scaling = memory  # who waits for devices, for placement
        showing(look, choices, memory)
        told(look, memory)

    scaling = scaling_loop(fleet, gate, lambda: moves.memory, lambda: shell.wake("spare"), seen)
    placement = placement_loop(fleet, gate, moves, lambda: shell.wake("scaling"))
    return [
        reconcile(scaling, shell),
        reconcile(spare_loop(fleet, gate), shell),
        reconcile(placement, shell),
    ]


def workloads_loops(
    fleet: Fleet, gate: Gate, shell: Shell, around: Surroundings
) -> list[Awaitable[NoReturn]]:
    """Keep what stands in a real cluster as the catalogue says."""
    if around.workloads is None:
        return []
    return [reconcile(workloads_loop(fleet, gate, around.workloads), shell)]


def metering(
    fleet: Fleet, shell: Shell, history: History, store: Store, file: FleetFile
) -> Awaitable[NoReturn]:
    """Bill every device and interval."""
    meter = Metering(fleet, store.ledger, history, shell.metrics, lambda: file.force.version)
    return reconcile(meter.loop(), shell)


def reload_loop(
    file: FleetFile, applying: Applying, clock: Clock
) -> Loop[CatalogueSeen, CatalogueMemory]:
    """Put a changed fleet file in force."""
    return catalogue_loop(
        file.look, applying.by_file, lambda faults: file.refuse(faults, clock.now())
    )
