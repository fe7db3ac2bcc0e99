"""The ledger: who pays for which device in which interval, in whole millionths (law 8).

Rows + idle = bill, for every device and interval. A row is identified by (world, device, start,
kind, model), so writing an interval twice changes nothing.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from controlplane.domain.quantities import (
    ClassName,
    Instant,
    Micros,
    ModelName,
    NodeName,
    Team,
    Zone,
)


class LineKind(StrEnum):
    """What a device was paid for."""

    SERVING = "serving"
    WARM = "warm"  # spares of every kind, attributed to the model they serve
    LOADING = "loading"
    DRAINING = "draining"
    IDLE = "idle"  # nobody held it, or the part nobody held
    CROSS_ZONE = "cross-zone"


class LedgerRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line: a device, an interval, who pays and how much."""

    start: Instant
    end: Instant
    node: NodeName
    device: int  # index on the node; -1 for lines without a device (cross-zone)
    node_class: ClassName
    zone: Zone
    kind: LineKind
    model: ModelName | None = None
    team: Team | None = None
    micros: Micros
    price_micros_per_hour: Micros
    reconstructed: bool = False  # billed after a gap, from what was last known
    catalogue_version: int = 0


def split_exactly(total: Micros, weights: Mapping[str, float]) -> dict[str, Micros]:
    """Share out whole millionths by weight so that the parts add up (largest remainder).

    Ties go to the name that sorts first, so the same input gives the same parts.
    """
    whole = sum(weights.values())
    if not weights or whole <= 0:
        return {}
    exact = {name: total * weight / whole for name, weight in weights.items()}
    parts = {name: int(share // 1) for name, share in exact.items()}
    left = total - sum(parts.values())
    by_remainder = sorted(weights, key=lambda name: (-(exact[name] - parts[name]), name))
    for name in by_remainder[:left]:
        parts[name] += 1
    return {name: Micros(part) for name, part in parts.items()}
