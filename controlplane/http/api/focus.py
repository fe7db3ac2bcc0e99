"""A ledger row in the columns of FOCUS 1.2, the FinOps exchange format.

What we know goes into its own columns; what is ours alone is prefixed `x_`, as the specification
asks. List, contracted and effective cost are one figure here: nobody gave us discounts.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

import msgspec

from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.quantities import MICROS_PER_UNIT, Instant
from controlplane.http.api.csv import Cell
from controlplane.http.state import State

COLUMNS = (
    "AvailabilityZone",
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "ResourceId",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "SubAccountId",
    "Tags",
    "x_Model",
    "x_NodeClass",
    "x_LineKind",
    "x_Reconstructed",
    "x_CatalogueVersion",
)
UNIT = "GPU-Hours"
EVERYWHERE = "*"


def focus_cells(row: LedgerRow, state: State) -> Sequence[Cell]:
    """Give the cells of one row, in the order of COLUMNS."""
    cost = _money(row.micros)
    device_line = row.kind is not LineKind.CROSS_ZONE
    hours = _hours(row) if device_line else None
    price = _money(row.price_micros_per_hour) if device_line else None
    start, end = billing_period(row.start)
    tags = {"team": row.team, "model": row.model, "node": _named(row.node)}
    cells: dict[str, Cell] = {
        "AvailabilityZone": _named(row.zone),
        "BilledCost": cost,
        "BillingAccountId": state.cluster,
        "BillingAccountName": state.cluster,
        "BillingCurrency": state.in_force.catalogue.currency,
        "BillingPeriodStart": _iso(start),
        "BillingPeriodEnd": _iso(end),
        "ChargeCategory": "Usage",
        "ChargeClass": None,
        "ChargeDescription": _description(row),
        "ChargeFrequency": "Usage-Based",
        "ChargePeriodStart": _iso(row.start),
        "ChargePeriodEnd": _iso(row.end),
        "ConsumedQuantity": hours,
        "ConsumedUnit": UNIT if device_line else None,
        "ContractedCost": cost,
        "EffectiveCost": cost,
        "InvoiceIssuerName": "controlplane",
        "ListCost": cost,
        "ListUnitPrice": price,
        "PricingQuantity": hours,
        "PricingUnit": UNIT if device_line else None,
        "ProviderName": state.cluster,
        "PublisherName": "controlplane",
        "ResourceId": f"{row.node}/{row.device}" if device_line else _named(row.node),
        "ResourceType": _named(row.node_class),
        "ServiceCategory": "AI and Machine Learning",
        "ServiceName": "Model serving",
        "SubAccountId": row.team,
        "Tags": msgspec.json.encode({k: v for k, v in tags.items() if v}).decode(),
        "x_Model": row.model,
        "x_NodeClass": _named(row.node_class),
        "x_LineKind": str(row.kind),
        "x_Reconstructed": "true" if row.reconstructed else "false",
        "x_CatalogueVersion": row.catalogue_version,
    }
    return [cells[column] for column in COLUMNS]


def billing_period(at: Instant) -> tuple[Instant, Instant]:
    """Give the calendar month, UTC, a moment lies in; its end is not included."""
    day = datetime.fromtimestamp(at, UTC)
    start = datetime(day.year, day.month, 1, tzinfo=UTC)
    end = datetime(day.year + day.month // 12, day.month % 12 + 1, 1, tzinfo=UTC)
    return start.timestamp(), end.timestamp()


def _named(name: str) -> str | None:
    """Give a name; lines that belong to no one place carry "*" there, which names nothing."""
    return None if name == EVERYWHERE else name


def _description(row: LedgerRow) -> str:
    where = f" on {row.node_class}" if row.node_class != EVERYWHERE else ""
    whose = f" for {row.model}" if row.model else ""
    return f"{row.kind}{where}{whose}"


def _iso(at: Instant) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _money(amount: int) -> str:
    return f"{Decimal(amount) / MICROS_PER_UNIT:.6f}"


def _hours(row: LedgerRow) -> str:
    """Give the device hours this row pays for: its cost over the price, so that shares add up."""
    if not row.price_micros_per_hour:
        return f"{(row.end - row.start) / 3600:.9f}"
    return f"{Decimal(row.micros) / Decimal(row.price_micros_per_hour):.9f}"
