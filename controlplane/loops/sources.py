"""Several sources of signals as one: signal by signal, the first with a fresh answer is believed.

A source that fails is a source that does not know; the others answer all the same.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from controlplane.clock import Clock
from controlplane.decide.signals.choosing import Chosen, choose
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.load import ModelLoad, silent
from controlplane.domain.quantities import ModelName
from controlplane.domain.samples import Bad, NoData, Sample, Stale, Value, Zero
from controlplane.domain.sources import SignalName, SourceName
from controlplane.ports import Signals, UnavailableError
from controlplane.ports.sources import PassedOver, SignalRead

QueryOf = Callable[[ModelName, SignalName], str]
PROMETHEUS: Final = "prometheus"
PIECE = 25  # models between two turns of the event loop


def _no_query(_model: ModelName, _signal: SignalName) -> str:
    return ""


def _no_notes() -> Sequence[str]:
    return ()


class OrderedSignals:
    """Implements the ports `Signals` and `SignalReads`."""

    def __init__(
        self,
        sources: Mapping[SourceName, Signals],
        catalogue: Callable[[], Catalogue],
        clock: Clock,
        query_of: QueryOf = _no_query,
        said: Callable[[], Sequence[str]] = _no_notes,
    ) -> None:
        """Ask these, whichever there are by then; `query_of` gives a query of Prometheus."""
        self._sources = sources
        self._catalogue = catalogue
        self._clock = clock
        self._query_of = query_of
        self._said = said
        self._chosen: Mapping[ModelName, tuple[Chosen, ...]] = {}
        self._failed: dict[SourceName, str] = {}

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        """Give the load of every catalogued model, put together from all sources."""
        catalogue, at = self._catalogue(), self._clock.now()
        sources = dict(self._sources)  # they may come and go meanwhile
        told = await asyncio.gather(*(self._ask(*source) for source in sources.items()))
        by_source = dict(zip(sources, told, strict=True))
        loads: dict[ModelName, ModelLoad] = {}
        chosen: dict[ModelName, tuple[Chosen, ...]] = {}
        for number, name in enumerate(catalogue.models, 1):
            of_model = {
                source: loads_of.get(name) or silent(name, at)
                for source, loads_of in by_source.items()
            }
            loads[name], chosen[name] = choose(name, of_model, catalogue.signals, at)
            if number % PIECE == 0:
                await asyncio.sleep(0)
        self._chosen = chosen
        return loads

    async def _ask(self, source: SourceName, asked: Signals) -> Mapping[ModelName, ModelLoad]:
        try:
            found = await asked.loads()
        except UnavailableError as cause:
            self._failed[source] = str(cause)
            return {}
        self._failed.pop(source, None)
        return found

    # ------------------------------------------------------------------ to be shown

    def sources(self, model: str) -> Sequence[SignalRead] | None:
        """Give where each signal of a model came from in the last cycle."""
        name, now = ModelName(model), self._clock.now()
        if name not in self._catalogue().models:
            return None
        return [self._read(name, chosen, now) for chosen in self._chosen.get(name, ())]

    def _read(self, name: ModelName, chosen: Chosen, now: float) -> SignalRead:
        sample = chosen.sample
        asked = chosen.source == PROMETHEUS or any(
            over.source == PROMETHEUS for over in chosen.passed_over
        )
        return SignalRead(
            signal=chosen.signal,
            source=chosen.source,
            value=sample.x,
            why=why(sample),
            age_s=max(0.0, now - sample.at) if isinstance(sample, Value | Zero) else None,
            query=self._query_of(name, chosen.signal) if asked else "",
            passed_over=tuple(
                PassedOver(source=source, why=self._failed.get(source) or why(said))
                for source, said in chosen.passed_over
            ),
            sample=sample,
        )

    @property
    def notes(self) -> Sequence[str]:
        """Give what the sources had to say besides."""
        return (*self._said(), *(f"{name}: {cause}" for name, cause in self._failed.items()))


def why(sample: Sample) -> str:
    """Say why a sample is none; empty where it is one."""
    match sample:
        case NoData(why=absence, note=note):
            return f"{absence}: {note}" if note else str(absence)
        case Stale(age_s=age):
            return f"Stale: {age:.0f} s old"
        case Bad(raw=raw):
            return f"Bad: {raw}"
    return ""
