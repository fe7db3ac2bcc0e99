"""Our own policy in a simulation: the cycles of `decide`, called as the loops call them."""

from collections.abc import Mapping, Sequence

from controlplane.decide.scaling import cycle as scaling
from controlplane.decide.scaling.inputs import ScalingMemory, ScalingSeen
from controlplane.decide.scaling.variants import variants
from controlplane.decide.spare import cycle as spare
from controlplane.decide.spare.inputs import SpareMemory, SpareSeen
from controlplane.domain.actions import Action, SetTarget
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice
from controlplane.domain.quantities import ModelName
from controlplane.loops.plan import PlanInForce
from controlplane.simulation.world import Observation


class Ours:
    """Scaling writes targets, spare makes them so; both look every 5 s and when woken."""

    period_s = 5.0
    wakes = True

    def __init__(self, catalogue: Catalogue) -> None:
        """Decide by a catalogue; its models' policies are what is tested."""
        self._catalogue = catalogue
        self._table = variants(catalogue)
        self._scaling = ScalingMemory()
        self._spare = SpareMemory()
        self._plan = PlanInForce()
        self.choices: tuple[Choice, ...] = ()  # of the last cycle

    @property
    def targets(self) -> Mapping[ModelName, int]:
        """Targets in force."""
        return {model: standing.replicas for model, standing in self._plan.plan.items()}

    def cycle(self, seen: Observation) -> Sequence[Action]:
        """Decide targets, then lanes by the targets just decided."""
        at = seen.view.at
        looked = ScalingSeen(at=at, view=seen.view, loads=seen.loads)
        sized, self._scaling = scaling.cycle(looked, self._catalogue, self._table, self._scaling)
        for action in _actions(sized):
            if isinstance(action, SetTarget):
                importance = self._catalogue.models[action.model].importance
                self._plan.put(action, at, importance)
        standing = SpareSeen(at=at, view=seen.view, plan=self._plan.plan)
        kept, self._spare = spare.cycle(standing, self._catalogue, self._table, self._spare)
        self.choices = (*sized, *kept)
        return _actions(kept)


def _actions(choices: Sequence[Choice]) -> list[Action]:
    return [action for choice in choices for action in choice.actions]
