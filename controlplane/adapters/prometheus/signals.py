"""Prometheus as a source of signals. It is asked in the background; loads are given from memory.

One query a signal serves the whole fleet, all of them at once; the slowest is given up after the
time-out, and its signal alone is then missing. A scaling cycle never waits for any of it.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

import structlog

from controlplane.adapters.prometheus.client import Answer, Prometheus, QueryError
from controlplane.adapters.prometheus.loads import (
    BY_MODEL,
    SIGNALS,
    Found,
    model_load,
    samples_of,
)
from controlplane.adapters.prometheus.own_query import nothing, several
from controlplane.adapters.prometheus.reading import Joined, Key, read, unjoined
from controlplane.clock import Clock
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import FleetView
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.samples import IDLE, NOT_YET, Bad, Sample, Zero, fresh, reading
from controlplane.domain.sources import SignalName
from controlplane.render.promql import query

EVERY_S = 5.0  # of real time
EXPLAINED_S = 60.0  # so long the reason why a query gave nothing stands
NAN = reading("NaN", 0.0)

log = structlog.stdlib.get_logger(__name__)


class Look(NamedTuple):
    """What the last round of queries gave."""

    at: Instant
    found: Found
    own: Mapping[tuple[ModelName, SignalName], Sample]
    queries: Mapping[SignalName, str]
    notes: tuple[str, ...]


class PrometheusSignals:
    """Implements the port `Signals`."""

    def __init__(
        self,
        client: Prometheus,
        catalogue: Callable[[], Catalogue],
        view: Callable[[], FleetView | None],
        clock: Clock,
        namespace: str | None = None,
    ) -> None:
        """Ask this server; `view` gives the replicas that live, None before the first look."""
        self._client = client
        self._catalogue = catalogue
        self._view = view
        self._clock = clock
        self._namespace = namespace
        self._look: Look | None = None
        self._failing = ""
        self._nothing: dict[str, tuple[Instant, str]] = {}  # why a query gave nothing, and when

    async def run(self) -> NoReturn:
        """Ask for ever."""
        while True:
            await self.update()
            await asyncio.sleep(EVERY_S)

    async def update(self) -> Look:
        """Ask once, all signals at the same time."""
        catalogue, at = self._catalogue(), self._clock.now()
        kinds = {model.serving.engine for model in catalogue.models.values()}
        queries = {signal: query(signal, kinds, self._client.source) for signal in SIGNALS}
        own = {
            (name, signal): text
            for name, model in catalogue.models.items()
            for signal, text in model.queries.items()
        }
        asked = [text for text in queries.values() if text]
        answers = await asyncio.gather(*(self._ask(text) for text in (*asked, *own.values())))
        by_text = dict(zip((*asked, *own.values()), answers, strict=True))
        joined = Joined(self._client.source, catalogue.signals.fresh_s, self._namespace)
        found: dict[SignalName, Mapping[Key, Sample] | Sample] = {}
        for signal, text in queries.items():
            if text:
                said = by_text[text]
                found[signal] = (
                    said.sample if isinstance(said, QueryError) else read(said, at, joined)
                )
        self._look = Look(
            at=at,
            found=found,
            own={
                key: await self._own(key[1], text, by_text[text], at) for key, text in own.items()
            },
            queries=queries,
            notes=tuple(dict.fromkeys(self._notes(by_text))),
        )
        self._tell(answers)
        return self._look

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        """Give what was last heard; how old it is shows in the samples."""
        at = self._clock.now()
        return {
            name: model_load(name, model, self.samples(name), at)
            for name, model in self._catalogue().models.items()
        }

    def samples(self, name: ModelName) -> dict[SignalName, Sample]:
        """Give a model's samples, those of its own queries before the fleet's."""
        catalogue, look, view = self._catalogue(), self._look, self._view()
        if look is None or view is None:
            return dict.fromkeys(SIGNALS, NOT_YET)
        samples = samples_of(name, catalogue.models[name], look.found, view)
        for (model, signal), sample in look.own.items():
            if model == name:
                samples[signal] = sample
        if isinstance(samples["arrivals"], Zero):  # then a percentile of nothing is no fault (S3)
            samples |= {signal: IDLE for signal in BY_MODEL if samples[signal] == NAN}
        now, limit = self._clock.now(), catalogue.signals.fresh_s
        return {signal: fresh(sample, now, limit) for signal, sample in samples.items()}

    def query_of(self, name: ModelName, signal: SignalName) -> str:
        """Give the query behind a signal; empty where the engine exports no such thing."""
        model = self._catalogue().models[name]
        kind = model.serving.engine
        return model.queries.get(signal) or query(signal, [kind], self._client.source)

    @property
    def notes(self) -> tuple[str, ...]:
        """Give what is to be known of the last round: warnings, labels that name nobody."""
        return self._look.notes if self._look is not None else ()

    async def _own(
        self, signal: SignalName, text: str, said: Answer | QueryError, at: Instant
    ) -> Sample:
        """Read a query of people's own."""
        if isinstance(said, QueryError):
            return said.sample
        if not said.series:
            return Bad(await self._why_nothing(text))
        if len(said.series) > 1:
            return Bad(several(said, text, signal))
        return reading(said.series[0].last, at)

    async def _why_nothing(self, text: str) -> str:
        """Say it; what a server has does not change from one look to the next."""
        at, told = self._nothing.get(text, (0.0, ""))
        now = self._clock.now()
        if not told or now - at > EXPLAINED_S:
            told = await nothing(self._client, text)
            self._nothing = {q: of for q, of in self._nothing.items() if now - of[0] <= EXPLAINED_S}
            self._nothing[text] = (now, told)
        return told

    async def _ask(self, text: str) -> Answer | QueryError:
        try:
            return await self._client.instant(text)
        except QueryError as error:
            return error

    def _tell(self, answers: Sequence[Answer | QueryError]) -> None:
        """Log when queries begin to fail, and when they no longer do."""
        failing = next((str(a) for a in answers if isinstance(a, QueryError)), "")
        if bool(failing) != bool(self._failing):
            said = "Prometheus cannot be asked" if failing else "Prometheus answers again"
            log.warning(said, cause=failing or self._failing)
        self._failing = failing

    def _notes(self, answers: Mapping[str, Answer | QueryError]) -> Iterator[str]:
        for text, said in answers.items():
            if isinstance(said, QueryError):
                yield str(said)
                continue
            yield from said.warnings
            lost = unjoined(said, self._client.source)
            if lost:
                yield (
                    f"{lost} series name neither replica nor model: set pod_labels and model_label "
                    f"in signals.prometheus to the labels they have; asked was {text[:120]}…"
                )
