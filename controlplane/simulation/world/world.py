"""The world: cluster, engines and front doors behind three calls. Signatures are final."""

from collections.abc import Mapping

import msgspec

from controlplane.domain.actions import Action
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Outcome
from controlplane.domain.fleet import FleetView
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import Instant, ModelName
from controlplane.simulation.traffic import Traffic
from controlplane.simulation.world.faults import Fault
from controlplane.simulation.world.spec import WorldSpec
from controlplane.simulation.world.tally import Tally


class Observation(msgspec.Struct, frozen=True):
    """One consistent look at the world."""

    view: FleetView
    loads: Mapping[ModelName, ModelLoad]


class World:
    """A simulated cluster with its traffic."""

    def __init__(self, spec: WorldSpec, traffic: Mapping[ModelName, Traffic], seed: int) -> None:
        """Build the world at `spec.start`; models without traffic get no requests."""
        raise NotImplementedError

    @property
    def now(self) -> Instant:
        """The instant up to which everything has happened."""
        raise NotImplementedError

    def advance(self, to: Instant, *, wake: bool = True) -> Instant:
        """Let events happen up to `to`; stop early where a decider should look."""
        raise NotImplementedError

    def observe(self) -> Observation:
        """Look at everything now; rates are since the last look."""
        raise NotImplementedError

    def apply(self, action: Action) -> Outcome:
        """Carry out one action, or say why not."""
        raise NotImplementedError

    def inflict(self, fault: Fault) -> None:
        """Let a fault happen at its time, or now when that is past."""
        raise NotImplementedError

    def swap_catalogue(self, catalogue: Catalogue) -> None:
        """Put another catalogue in force; what runs keeps running."""
        raise NotImplementedError

    def tally(self, model: ModelName) -> Tally:
        """Give the model's figures since the start."""
        raise NotImplementedError
