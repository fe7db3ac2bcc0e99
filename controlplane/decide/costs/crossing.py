"""What crosses zones, and what it costs: an estimate until somebody measures it.

Requests enter in any zone alike and a balancer that ignores zones sends them to any replica alike,
so the share that crosses is what is left when both zones happen to be the same.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import FleetView
from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.quantities import (
    ClassName,
    Instant,
    Micros,
    ModelName,
    NodeName,
    Zone,
    micros,
)
from controlplane.domain.replicas import Replica
from controlplane.domain.samples import NoData

EVERYWHERE = "*"  # the node, class and zone of a line that belongs to no single one
NO_DEVICE = -1


def crossed_gib(
    view: FleetView, catalogue: Catalogue, served: Mapping[ModelName, float]
) -> dict[ModelName, float]:
    """Estimate the GiB that crossed zones for so many requests served per model."""
    if isinstance(view.nodes, NoData) or not catalogue.egress_gib_per_request:
        return {}
    entries = {node.zone for node in view.nodes if node.ready}
    crossed = {}
    for model, requests in served.items():
        share = crossing_share(entries, (r for r in view.replicas if r.model == model))
        if requests > 0 and share > 0:
            crossed[model] = requests * share * catalogue.egress_gib_per_request
    return crossed


def crossing_share(entries: set[Zone], replicas: Iterable[Replica]) -> float:
    """Give the share of requests whose replica stands in another zone than their entry."""
    zones = Counter(r.zone for r in replicas if r.serving and r.zone is not None)
    serving = sum(zones.values())
    if not serving or not entries:
        return 0.0
    at_home = sum(zones[zone] for zone in entries)
    return 1.0 - at_home / serving / len(entries)


def crossing_rows(
    crossed: Mapping[ModelName, float],
    catalogue: Catalogue,
    span: tuple[Instant, Instant],
    version: int,
) -> tuple[LedgerRow, ...]:
    """Give one row per model for what crossed zones in an interval."""
    price = micros(catalogue.cross_zone_per_gib)
    return tuple(
        LedgerRow(
            start=span[0],
            end=span[1],
            node=NodeName(EVERYWHERE),
            device=NO_DEVICE,
            node_class=ClassName(EVERYWHERE),
            zone=Zone(EVERYWHERE),
            kind=LineKind.CROSS_ZONE,
            model=model,
            team=catalogue.models[model].team if model in catalogue.models else None,
            micros=Micros(round(gib * price)),
            price_micros_per_hour=Micros(0),
            catalogue_version=version,
        )
        for model, gib in sorted(crossed.items())
    )
