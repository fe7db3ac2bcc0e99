"""Keeps the ScaledObjects of models whose number KEDA writes: made, changed, paused, taken away.

Nothing is published before our own port has answered itself: a KEDA that asks a port which is not
there takes the model for broken (K2). Only the leader publishes, and only where the model may be
acted on; pauses are published too, for KEDA would go on where we stand still. What somebody changed
is put right once in a while, not in every round.

Where none may be wanted, the ScaledObject says whether any is: then KEDA cannot take the last, for
however long we are away. Until that is known, after a start, what is published stays as it is.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import NoReturn, Protocol

import structlog

from controlplane.clock import Clock
from controlplane.decide.handover.wanted import Wanted
from controlplane.domain import marks
from controlplane.domain.decisions import Ending, Outcome
from controlplane.domain.overrides import Overrides, paused, pinned
from controlplane.domain.quantities import Instant, ModelName
from controlplane.loops.acting import Gate
from controlplane.loops.fleet import Fleet
from controlplane.ports import Leadership, UnavailableError
from controlplane.render.naming import Manifest
from controlplane.render.scaled_object import FREE, Hold, scaled_objects

EVERY_S = 5.0  # of real time: a pause must reach KEDA soon
ASSERT_EVERY_S = 600.0

log = structlog.stdlib.get_logger(__name__)


class ScaledObjectStore(Protocol):
    """The ScaledObjects of a cluster."""

    async def names(self) -> Mapping[str, ModelName]:
        """Name those that are ours, each with its model."""
        ...

    async def apply(self, manifest: Manifest) -> Outcome:
        """Make one so; what the definition does not know is refused, in a sentence."""
        ...

    async def remove(self, name: str) -> Outcome:
        """Take one away; the number of replicas stays."""
        ...


class Publishing:
    """Publishes."""

    def __init__(
        self,
        fleet: Fleet,
        store: ScaledObjectStore,
        gate: Gate,
        leadership: Leadership,
        namespace: str,
        sizes: Callable[[], Wanted],
    ) -> None:
        """Know nothing of what is published yet; `sizes` is what each variant is to have now."""
        self._fleet = fleet
        self._store = store
        self._gate = gate
        self._leadership = leadership
        self._namespace = namespace
        self._sizes = sizes
        self._published: dict[str, tuple[Manifest, Instant]] = {}
        self._refused: dict[str, str] = {}

    async def run(self, answers: asyncio.Event) -> NoReturn:
        """Publish for ever, whenever our port answers."""
        failing = ""
        while True:
            await answers.wait()
            failure = ""
            try:
                await self.round()
            except UnavailableError as cause:
                failure = str(cause)
            if bool(failure) != bool(failing):
                said = "ScaledObjects are not published" if failure else "they are published again"
                log.warning(said, cause=failure or failing)
            failing = failure
            await asyncio.sleep(EVERY_S)

    async def round(self) -> None:
        """Bring the cluster to what is wanted."""
        if not self._leadership.leading:
            self._published.clear()  # whoever leads meanwhile may change them
            return
        clock: Clock = self._fleet.clock
        overrides = await self._fleet.overrides.overrides()
        wanted = self._wanted(overrides)
        for name, manifest in wanted.items():
            last, at = self._published.get(name, (None, 0.0))
            if manifest is None or (last == manifest and clock.now() - at < ASSERT_EVERY_S):
                continue
            if self._note(name, await self._store.apply(manifest)):
                self._published[name] = (manifest, clock.now())
        for name, model in (await self._store.names()).items():
            if name not in wanted and self._may_go(model):
                self._note(name, await self._store.remove(name))
                self._published.pop(name, None)

    def _wanted(self, overrides: Overrides) -> Mapping[str, Manifest | None]:
        """Give what is to be there, by name; None is to stay as it is."""
        catalogue, sizes = self._fleet.catalogue, self._sizes()
        made: dict[str, Manifest | None] = {}
        for name, model in catalogue.models.items():
            if model.policy.scaling.writer == "keda" and self._gate.acts(name):
                held, known = hold(overrides, name), sizes.get(name, {})
                for manifest in scaled_objects(
                    name, catalogue, self._namespace, hold=held, wanted=known
                ):
                    about = manifest["metadata"]
                    empties = manifest["spec"]["minReplicaCount"] == 0 and held == FREE
                    unknown = empties and about["labels"][marks.CLASS] not in known
                    made[about["name"]] = None if unknown else manifest
        return made

    def _may_go(self, model: ModelName) -> bool:
        """Leave what belongs to a model that may not be acted on."""
        return model not in self._fleet.catalogue.models or self._gate.acts(model)

    def _note(self, name: str, outcome: Outcome) -> bool:
        """Log a refusal once; say whether it was done."""
        if outcome.ending is Ending.DONE:
            self._refused.pop(name, None)
            return True
        if self._refused.get(name) != outcome.note:
            self._refused[name] = outcome.note
            log.warning("a ScaledObject is refused", name=name, cause=outcome.note)
        return False

    @property
    def refused(self) -> Mapping[str, str]:
        """Give what the cluster does not take, by name, each with its reason."""
        return self._refused


def hold(overrides: Overrides, name: ModelName) -> Hold:
    """Say what people's pauses and pins mean for KEDA.

    A pin is a target like any other, which KEDA carries out; but 0 is no number an HPA can hold.
    """
    pin = pinned(overrides, name)
    if pin is not None and pin.pinned == 0:
        return Hold(replicas=0)
    return Hold(paused=True) if paused(overrides, name) is not None else FREE
