"""The targets in force: written by scaling's act, read by spare and the pages."""

from controlplane.decide.scaling.inputs import ScalingMemory
from controlplane.domain.actions import SetTarget
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Plan, Standing
from controlplane.domain.quantities import Instant, ModelName


class PlanInForce:
    """Every model's target. It is derived from scaling's memory, so it survives a restart."""

    def __init__(self) -> None:
        """Start with no target; spare touches nothing without one."""
        self.plan: Plan = {}

    def put(self, action: SetTarget, at: Instant, importance: int) -> None:
        """Put a target in force."""
        standing = Standing(
            replicas=action.replicas, split=action.split, since=at, importance=importance
        )
        self.plan = {**self.plan, action.model: standing}

    def restore(self, memory: ScalingMemory, catalogue: Catalogue) -> None:
        """Put back in force what was decided before a restart."""
        restored: dict[ModelName, Standing] = {}
        for name, of_model in memory.models.items():
            model = catalogue.models.get(name)
            if model is not None and of_model.target is not None:
                restored[name] = Standing(
                    replicas=of_model.target,
                    split=of_model.split,
                    since=of_model.since,
                    importance=model.importance,
                )
        self.plan = restored

    def forget_all_but(self, catalogue: Catalogue) -> None:
        """Drop models that left the catalogue; their replicas are no longer ours to touch."""
        self.plan = {name: held for name, held in self.plan.items() if name in catalogue.models}
