"""What one waiting model sees on one class: the devices coming free and who sits on the others."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from controlplane.decide.placement.berths import Berths
from controlplane.decide.placement.matching import Match
from controlplane.decide.placement.squatting import Squatter, Squatting
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ClassName, Instant, ModelName
from controlplane.domain.reasons import Evidence, ReasonCode, Refusal

Waiting = Mapping[ModelName, Mapping[ClassName, int]]


class Want(NamedTuple):
    """So many replicas of a model find no device on a class."""

    model: ModelName
    node_class: ClassName
    replicas: int


class Lookout(NamedTuple):
    """Everything a look is taken from."""

    at: Instant
    berths: Berths
    catalogue: Catalogue
    waiting: Waiting

    def look(self, want: Want, passed_over: Collection[ModelName]) -> Squatting:
        """Take one look; models that are passed over are not asked to leave."""
        others = [model for model in sorted(self.catalogue.models) if model not in passed_over]
        return Squatting(
            at=self.at,
            waiting=want.model,
            target=self.berths.target(want.model),
            node_class=want.node_class,
            wanted=want.replicas,
            devices=self.berths.devices(want.model, want.node_class) or 1,
            there=self.berths.there(want.node_class),
            free=self.berths.coming_free(want.node_class),
            squatters=tuple(
                squatter for other in others for squatter in self._squatters(other, want)
            ),
        )

    def _squatters(self, model: ModelName, want: Want) -> Iterator[Squatter]:
        """Give the model as a squatter on the class, if it is one."""
        berths, name = self.berths, want.node_class
        count = berths.split(model).get(name, 0)
        seated = berths.seated(model, name) if count else []
        if not seated:
            return
        verdict = berths.verdict(model, name)
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
        for verdict in self.berths.verdicts(model):  # cheapest first
            name = verdict.node_class
            if not verdict.fits or self._memory(verdict) >= self._memory(here):
                continue
            sought = next((m for m, wants in self.waiting.items() if wants.get(name, 0)), None)
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

    def _memory(self, verdict: Match) -> float:
        """Give the memory, usable or not, of all devices a replica holds on a class."""
        return (verdict.devices or 1) * self.catalogue.node_classes[verdict.node_class].vram_gib
