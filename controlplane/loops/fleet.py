"""The fleet as the loops share it: the ports, the catalogue in force, the plan in force."""

from controlplane.clock import Clock
from controlplane.decide.scaling.variants import VariantTable, variants
from controlplane.domain.catalogue import Catalogue
from controlplane.loops.plan import PlanInForce
from controlplane.ports import Cluster, OverrideStore, Signals


class Fleet:
    """Shared by reference; a catalogue is swapped whole, and a cycle reads it once."""

    def __init__(
        self,
        *,
        clock: Clock,
        cluster: Cluster,
        signals: Signals,
        overrides: OverrideStore,
        catalogue: Catalogue,
    ) -> None:
        """Wire the ports and match the catalogue once."""
        self.clock = clock
        self.cluster = cluster
        self.signals = signals
        self.overrides = overrides
        self.in_force = PlanInForce()
        self.catalogue = catalogue
        self.table: VariantTable = variants(catalogue)

    def swap(self, catalogue: Catalogue) -> None:
        """Put another catalogue in force."""
        self.catalogue, self.table = catalogue, variants(catalogue)
        self.in_force.forget_all_but(catalogue)
