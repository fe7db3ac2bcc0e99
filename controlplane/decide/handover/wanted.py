"""How many replicas each variant is to have, for models whose number somebody else writes.

It is what spare would write itself, so one rule sizes Deployments whoever carries it out: replicas
in service, spares, those that still drain. Every daemon derives it from the same plan and the same
look at the cluster, so whichever of them is asked says the same.
"""

from collections import Counter
from collections.abc import Mapping

import msgspec

from controlplane.decide.scaling.variants import VariantTable
from controlplane.decide.spare.cycle import cycle
from controlplane.decide.spare.draft import owned
from controlplane.decide.spare.inputs import SpareMemory, SpareSeen
from controlplane.domain.actions import SetReplicas
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ClassName, ModelName

ELSEWHERE = ("keda", "hpa")  # writers that carry out what we say

Wanted = Mapping[ModelName, Mapping[ClassName, int]]


def wanted(
    seen: SpareSeen, catalogue: Catalogue, table: VariantTable, memory: SpareMemory
) -> tuple[Wanted, SpareMemory]:
    """Give the sizes, and what to remember; a model without a target in force has none."""
    handed = {
        name: standing
        for name, standing in seen.plan.items()
        if name in catalogue.models and catalogue.models[name].policy.scaling.writer in ELSEWHERE
    }
    exist: Counter[tuple[ModelName, ClassName]] = Counter(
        (r.model, r.node_class) for r in seen.view.replicas if owned(r)
    )
    sizes: dict[ModelName, dict[ClassName, int]] = {
        name: {
            class_name: exist[name, class_name] for class_name in catalogue.models[name].variants
        }
        for name in handed
    }
    choices, after = cycle(msgspec.structs.replace(seen, plan=handed), catalogue, table, memory)
    for choice in choices:
        for action in choice.actions:
            if isinstance(action, SetReplicas):
                sizes[action.model][action.node_class] = action.count
    return sizes, after
