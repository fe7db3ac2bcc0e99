"""A fleet that never changes: what a capacity plan on paper gives."""

from collections.abc import Iterable, Mapping, Sequence

from controlplane.domain.actions import Action
from controlplane.domain.quantities import ModelName
from controlplane.simulation.peers.fleet import Deployment
from controlplane.simulation.world import Observation


class Static:
    """What runs at the start runs to the end."""

    period_s = 60.0
    wakes = False

    def __init__(self, deployments: Iterable[Deployment]) -> None:
        """Keep every Deployment at its initial size."""
        self.targets: Mapping[ModelName, int] = {one.model: one.initial for one in deployments}

    def cycle(self, seen: Observation) -> Sequence[Action]:
        """Do nothing."""
        del seen
        return ()
