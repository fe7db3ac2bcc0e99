"""Ten days of the painted fleet's ledger, by the hour: every device, held or not."""

from collections.abc import Mapping, Sequence

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.quantities import ClassName, ModelName, NodeName, Zone, micros
from tests.browser.nodes import NODES, NOW


def bill(catalogue: Catalogue) -> list[LedgerRow]:
    """Bill ten days by the hour: every device, held or not."""
    rows: list[LedgerRow] = []
    teams = {name: model.team for name, model in catalogue.models.items()}
    owners: Mapping[str, Sequence[str]] = {
        "A100-80G": ("chat-70b",) * 10 + ("sdxl",) * 3 + ("sdxl-ft",) + ("",) * 2,
        "T4": ("whisper-l3",) * 3 + ("support-ft",) * 4 + ("legal-ft",) * 3 + ("resnet-152",) * 3,
        "Ascend-910B3": ("chat-70b",) * 4 + ("support-ft",),
    }
    midnight = NOW - NOW % 86_400
    for hour in range(-9 * 24, 13):
        start = midnight + hour * 3600
        for node, kind, zone, count in NODES:
            price = micros(catalogue.node_classes[ClassName(kind)].price_per_hour)
            for device in range(count):
                listed = owners[kind]
                place = device + (8 if node.endswith("b-0") and kind == "A100-80G" else 0)
                place += {"t4-a-1": 4, "t4-a-2": 8, "t4-b-0": 12, "t4-b-1": 16}.get(node, 0)
                busy = (hour * 7 + place) % 5 != 0 or place < 6
                name = listed[place] if place < len(listed) and busy else ""
                spare = place % 7 == 3
                rows.append(
                    LedgerRow(
                        start=start,
                        end=start + 3600,
                        node=NodeName(node),
                        device=device,
                        node_class=ClassName(kind),
                        zone=Zone(zone),
                        kind=(LineKind.WARM if spare else LineKind.SERVING)
                        if name
                        else LineKind.IDLE,
                        model=ModelName(name) if name else None,
                        team=teams[ModelName(name)] if name else None,
                        micros=price,
                        price_micros_per_hour=price,
                        catalogue_version=2,
                    )
                )
    return rows
