"""The machines of a world: devices, images, and which pod goes where."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import Node
from controlplane.domain.quantities import ClassName, NodeName, Zone


@dataclass(slots=True)
class Machine:
    """One node."""

    name: NodeName
    node_class: ClassName
    zone: Zone
    devices: int
    free: int
    ready: bool = True
    image_at: dict[str, float] = field(
        default_factory=dict
    )  # image -> when it is, or will be, here

    def seen(self) -> Node:
        """Give the node as the cluster shows it."""
        return Node(
            name=self.name,
            node_class=self.node_class,
            zone=self.zone,
            devices=self.devices,
            ready=self.ready,
        )


def machines_of(catalogue: Catalogue) -> tuple[Machine, ...]:
    """Turn the catalogue's pools into machines with names that tell class, zone and number."""
    machines: list[Machine] = []
    for pool in catalogue.pools:
        stem = f"{pool.node_class}-{pool.zone}".lower().replace(" ", "-").replace("_", "-")
        taken = sum(m.name.startswith(f"{stem}-") for m in machines)
        machines += [
            Machine(
                name=NodeName(f"{stem}-{taken + n + 1}"),
                node_class=pool.node_class,
                zone=pool.zone,
                devices=pool.devices_per_node,
                free=pool.devices_per_node,
            )
            for n in range(pool.nodes)
        ]
    return tuple(machines)


def choose(
    machines: Iterable[Machine],
    node_class: ClassName,
    devices: int,
    in_zone: dict[Zone, int],
    image: str,
) -> Machine | None:
    """Choose the node for a pod, or None where none fits.

    Zones with fewest replicas of the variant first (a preference, never a demand), then nodes that
    have the image, then the fullest node, so that whole nodes stay free for models of many devices.
    """
    fitting = [m for m in machines if m.node_class == node_class and m.ready and m.free >= devices]
    return min(
        fitting,
        key=lambda m: (in_zone.get(m.zone, 0), image not in m.image_at, m.free, m.name),
        default=None,
    )


def why_none_fits(machines: Sequence[Machine], node_class: ClassName, devices: int) -> str:
    """Say in a scheduler's manner why a pod stays Pending."""
    of_class = [m for m in machines if m.node_class == node_class]
    silent = sum(1 for m in of_class if not m.ready)
    small = sum(1 for m in of_class if m.ready and m.devices < devices)
    full = len(of_class) - silent - small
    parts = [
        (len(machines) - len(of_class), f"didn't match node class {node_class}"),
        (silent, "were not ready"),
        (small, f"had fewer than {devices} devices"),
        (full, f"had too few free devices ({devices} wanted)"),
    ]
    told = ", ".join(f"{count} {what}" for count, what in parts if count)
    return f"0/{len(machines)} nodes are available: {told or 'there are none'}."
