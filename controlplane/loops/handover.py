"""Keeps what others are told up to date: figures for KEDA's scaler, sizes for HPAs.

It rides on scaling's looks, in every daemon, leading or not: all of them answer KEDA, and all must
say the same. A thousand models are gone through in pieces, so that answers never wait for it.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, Protocol

from controlplane.decide.handover.figures import Figures, Serving, figures
from controlplane.decide.handover.wanted import Wanted, wanted
from controlplane.decide.scaling.inputs import ScalingSeen, VariantFacts
from controlplane.decide.spare.inputs import SpareMemory, SpareSeen
from controlplane.domain.fleet import replicas_by_model
from controlplane.domain.load import ModelLoad, silent
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.replicas import Replica
from controlplane.loops.fleet import Fleet

PIECE = 25  # models between two turns of the event loop


class Told(Protocol):
    """Takes what is known now."""

    def __call__(
        self, figures: Iterable[Figures], classes: Mapping[ModelName, Iterable[ClassName]], /
    ) -> None:
        """Replace what was known before."""
        ...


class Sized(Protocol):
    """Takes the sizes of the variants that somebody else sizes."""

    def __call__(self, wanted: Wanted, /) -> None:
        """Replace what was wanted before."""
        ...


def _to_nobody(_wanted: Wanted) -> None:
    return None


class Handover:
    """Derives what others are told from the last look."""

    def __init__(self, fleet: Fleet, tell: Told, size: Sized = _to_nobody) -> None:
        """Tell KEDA's board, and whoever publishes sizes."""
        self._fleet = fleet
        self._tell = tell
        self._size = size
        self._look: ScalingSeen | None = None
        self._memory = SpareMemory()
        self.sizes: Wanted = {}  # what each variant is to have, as of the last look
        self._news = asyncio.Event()

    def note(self, look: ScalingSeen) -> None:
        """Take scaling's look, whoever decided on it."""
        self._look = look
        self._news.set()

    async def run(self) -> NoReturn:
        """Tell after every look, for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            if self._look is not None:
                await self.update(self._look)

    async def update(self, look: ScalingSeen) -> None:
        """Tell what follows from one look."""
        fleet = self._fleet
        catalogue, table = fleet.catalogue, fleet.table
        sizes, self._memory = wanted(
            SpareSeen(
                at=look.at, view=look.view, plan=fleet.in_force.plan, overrides=look.overrides
            ),
            catalogue,
            table,
            self._memory,
        )
        by_model = replicas_by_model(look.view.replicas)
        told: list[Figures] = []
        for number, (name, model) in enumerate(catalogue.models.items(), 1):
            load = look.loads.get(name) or silent(name, look.at)
            serving = _serving(load, by_model.get(name, ()), table.facts[name])
            told.append(figures(load, model.policy, serving, sizes.get(name, {})))
            if number % PIECE == 0:
                await asyncio.sleep(0)
        self._tell(told, {name: tuple(model.variants) for name, model in catalogue.models.items()})
        self.sizes = sizes
        self._size(sizes)


def _serving(
    load: ModelLoad, replicas: Sequence[Replica], facts: Sequence[VariantFacts]
) -> Serving:
    """Say what serves, by the slots of the classes it serves on."""
    by_class = {of_class.node_class: of_class for of_class in facts}
    serving = [r.node_class for r in replicas if r.serving and r.node_class in by_class]
    on = [by_class[name] for name in serving] or list(facts[:1])
    slots = sum(of.slots for of in on) / len(on) if on else 1.0
    declared = sum(of.service_s for of in on) / len(on) if on else 1.0
    return Serving(replicas=len(serving), slots=slots, service_s=load.service_s.x or declared)
