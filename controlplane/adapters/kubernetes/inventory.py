"""The nodes by class, kept from one look to the next: only what changed is judged anew."""

from collections.abc import Iterator

from controlplane.adapters.kubernetes.node_shape import Machine, RawNode
from controlplane.adapters.kubernetes.nodes import Found, Part, look
from controlplane.adapters.kubernetes.watching import Watch
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import Node, UnknownNode
from controlplane.domain.quantities import ClassName

AT_ONCE = 100  # machines between which others get their turn


class Inventory:
    """What all machines bring to the fleet."""

    def __init__(self, watch: Watch[RawNode, Machine]) -> None:
        """Judge what this watch sees."""
        self.nodes: tuple[Node, ...] = ()
        self.unknown: tuple[UnknownNode, ...] = ()
        self._watch = watch
        self._catalogue: Catalogue | None = None
        self._found: dict[str, tuple[Machine, Found]] = {}
        self._revision = -1

    def refresh(self, catalogue: Catalogue) -> Iterator[None]:
        """Judge what changed, in steps; it counts when all are done."""
        revision, before = self._watch.revision, self._found
        if catalogue is not self._catalogue:
            before = {}
        elif revision == self._revision:
            return
        found: dict[str, tuple[Machine, Found]] = {}
        for count, machine in enumerate(tuple(self._watch.items.values()), 1):
            known = before.get(machine.name)
            if known is None or known[0] is not machine:
                known = (machine, look(machine, catalogue))
            found[machine.name] = known
            if count % AT_ONCE == 0:
                yield
        of_all = [found[name][1] for name in sorted(found)]
        self._catalogue, self._found, self._revision = catalogue, found, revision
        self.nodes = tuple(part.node for of in of_all for part in of.parts)
        self.unknown = tuple(node for of in of_all for node in of.unknown)

    def parts(self, machine: str) -> tuple[Part, ...]:
        """Give what a machine brings, by class."""
        return self._found[machine][1].parts if machine in self._found else ()

    def machines(self, node_class: ClassName) -> list[Machine]:
        """Give the machines of a class."""
        return [
            machine
            for machine, found in self._found.values()
            if any(part.node.node_class == node_class for part in found.parts)
        ]
