"""What one waiting model sees on one class: the devices coming free and who sits on the others."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from controlplane.decide.placement.berths import Berths
from controlplane.decide.placement.matching import Match
from controlplane.decide.placement.squatting import Squatter, Squatting, placeable, rank
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ClassName, Instant, ModelName, NodeName
from controlplane.domain.reasons import Evidence, ReasonCode, Refusal

MOST_SQUATTERS = 64  # looked at and stored with the decision; the next cycle looks again

Waiting = Mapping[ModelName, Mapping[ClassName, int]]


class Want(NamedTuple):
    """So many replicas of a model find no device on a class."""

    model: ModelName
    node_class: ClassName
    replicas: int


class Lookout:
    """Looks for one cycle; what a model is about to get is not shown to those after it."""

    def __init__(self, at: Instant, berths: Berths, catalogue: Catalogue, waiting: Waiting) -> None:
        """Hold what every look is taken from."""
        self.at = at
        self.berths = berths
        self.catalogue = catalogue
        self.waiting = waiting
        self._coming: dict[ClassName, dict[NodeName, int]] = {}

    def coming(self, node_class: ClassName) -> dict[NodeName, int]:
        """Give the devices that are free or about to be, and not yet given away in this cycle."""
        if node_class not in self._coming:
            self._coming[node_class] = self.berths.coming_free(node_class)
        return self._coming[node_class]

    def wants(self, model: ModelName) -> Iterator[Want]:
        """Give what a model lacks on each class it could use, less what it will get on the others.

        Whoever reports the wait names every class that would do; one of them is enough.
        """
        lacks = self._lacks(model)
        coming = {
            name: placeable(self.coming(name), devices) for name, (_, devices) in lacks.items()
        }
        for name, (lacking, _) in lacks.items():
            left = lacking - sum(coming.values()) + coming[name]
            if left > 0:
                yield Want(model, name, left)

    def give(self, model: ModelName) -> None:
        """Let a model take what comes free for it, fullest nodes first."""
        placed = 0
        for name, (lacking, devices) in self._lacks(model).items():
            coming = self.coming(name)
            for node in sorted(coming, key=lambda node: (coming[node], node)):
                while placed < lacking and coming[node] >= devices:
                    coming[node] -= devices
                    placed += 1

    def leaves(self, squatter: Squatter, node_class: ClassName) -> None:
        """Count a squatter's devices as coming free."""
        coming = self.coming(node_class)
        for node, devices in squatter.holds.items():
            coming[node] = coming.get(node, 0) + devices

    def _lacks(self, model: ModelName) -> dict[ClassName, tuple[int, int]]:
        """Give the replicas lacking on each class that would do, and the devices of one."""
        return {
            name: (lacking, devices)
            for name, lacking in sorted(self.waiting[model].items())
            if lacking > 0 and (devices := self.berths.devices(model, name))
        }

    def look(self, want: Want, passed_over: Collection[ModelName]) -> Squatting:
        """Take one look; models that are passed over are not asked to leave."""
        found = [
            squatter
            for other in self.berths.models_on(want.node_class)
            if other not in passed_over and other in self.catalogue.models
            for squatter in self._squatters(other, want)
        ]
        return Squatting(
            at=self.at,
            waiting=want.model,
            target=self.berths.target(want.model),
            node_class=want.node_class,
            wanted=want.replicas,
            devices=self.berths.devices(want.model, want.node_class) or 1,
            there=self.berths.there(want.node_class),
            free={node: left for node, left in self.coming(want.node_class).items() if left},
            squatters=tuple(sorted(found, key=rank)[:MOST_SQUATTERS]),
        )

    def _squatters(self, model: ModelName, want: Want) -> Iterator[Squatter]:
        """Give the model as a squatter on the class, if it is one."""
        berths, name = self.berths, want.node_class
        count = berths.split(model).get(name, 0)
        seated = berths.seated(model, name) if count else []
        if not seated:
            return
        verdict = berths.verdicts(model).get(name)
        codes = {remark.code for remark in verdict.reasons} if verdict is not None else set()
        if verdict is None or ReasonCode.BIGGER_THAN_NEEDED not in codes:
            return
        to, refused = self._destination(model, verdict, count)
        yield Squatter(
            model=model,
            target=berths.target(model),
            replicas=count,
            holds=berths.held(seated[:count]),
            importance=self.catalogue.models[model].importance,
            need_gib=round(self.catalogue.models[model].need.gib, 3),
            usable_gib=round(self._memory(verdict) * self.catalogue.node_classes[name].usable, 3),
            to=to,
            refused=refused,
        )

    def _destination(
        self, model: ModelName, here: Match, count: int
    ) -> tuple[ClassName | None, tuple[Refusal, ...]]:
        """Find the cheapest smaller class with room for all, and why cheaper ones will not do."""
        refused: list[Refusal] = []
        for verdict in self.berths.verdicts(model).values():  # cheapest first
            name = verdict.node_class
            if not verdict.fits or self._memory(verdict) >= self._memory(here):
                continue
            sought = self._sought_by(name)
            if sought is not None:
                refused.append(Refusal(name, ReasonCode.LOST_TO, (Evidence("winner", sought),)))
                continue
            room = self.berths.room(model, name)
            if room >= count:
                return name, tuple(refused)
            evidence = (
                Evidence("node_class", name),
                Evidence("wanted", count, room, "replicas"),
            )
            refused.append(Refusal(name, ReasonCode.NO_DEVICE_FREE, evidence))
        return None, tuple(refused)

    def _sought_by(self, node_class: ClassName) -> ModelName | None:
        """Name a model that waits for the class and is about to get devices of it."""
        for model, wants in self.waiting.items():
            if wants.get(node_class, 0) > 0 and self.berths.room(model, node_class):
                return model
        return None

    def _memory(self, verdict: Match) -> float:
        """Give the memory, usable or not, of all devices a replica holds on a class."""
        return (verdict.devices or 1) * self.catalogue.node_classes[verdict.node_class].vram_gib
