"""The catalogue as scaling needs it: per model the classes that fit, cheapest per request first.

Made once per catalogue version; matching every model with every class each cycle would be waste.
"""

from collections.abc import Mapping
from typing import NamedTuple

from controlplane.decide.placement.matching import match
from controlplane.decide.scaling.inputs import VariantFacts
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ClassName, ModelName


class VariantTable(NamedTuple):
    """Facts of every fitting variant, and the devices one replica of it holds."""

    facts: Mapping[ModelName, tuple[VariantFacts, ...]]
    devices: Mapping[tuple[ModelName, ClassName], int]


def variants(catalogue: Catalogue) -> VariantTable:
    """Match every model with every class and keep what fits."""
    facts: dict[ModelName, tuple[VariantFacts, ...]] = {}
    devices: dict[tuple[ModelName, ClassName], int] = {}
    for name, model in catalogue.models.items():
        fitting = []
        for verdict in match(name, model, catalogue):
            if not verdict.fits or verdict.devices is None or verdict.hourly_cost is None:
                continue
            variant = model.variants[verdict.node_class]
            devices[name, verdict.node_class] = verdict.devices
            fitting.append(
                VariantFacts(
                    node_class=verdict.node_class,
                    devices=verdict.devices,
                    slots=variant.slots,
                    service_s=variant.service_s,
                    load_s=variant.load_s,
                    hourly=float(verdict.hourly_cost),
                )
            )
        fitting.sort(key=lambda f: (f.hourly * f.service_s / f.slots, f.node_class))
        facts[name] = tuple(fitting)
    return VariantTable(facts, devices)
