"""Where this daemon's signals come from: what it runs on, and the Prometheus that is named.

Sources stand in one table, which is read anew in every cycle, so they may come and go: a fleet file
that names another Prometheus is followed without a restart. What an embedded world says stands
where the engines of a real cluster do.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NoReturn

from controlplane.adapters.prometheus.client import Prometheus
from controlplane.adapters.prometheus.signals import EVERY_S, PrometheusSignals
from controlplane.clock import Clock
from controlplane.daemon.surroundings import Surroundings, Task
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import ModelName
from controlplane.domain.sources import PrometheusSource, SignalName, SourceName
from controlplane.loops.sources import PROMETHEUS, OrderedSignals
from controlplane.ports import Signals
from controlplane.settings import ServeOptions


class Sources:
    """All sources of one daemon, and what must run for them."""

    def __init__(
        self,
        options: ServeOptions,
        around: Surroundings,
        catalogue: Callable[[], Catalogue],
        view: Callable[[], FleetView | None],
        clock: Clock,
    ) -> None:
        """Begin with what the daemon runs on; `view` is the last look, None before the first."""
        self._named = options.prometheus
        self._namespace = around.namespace
        self.catalogue = catalogue
        self._view = view
        self._clock = clock
        self.every_s = EVERY_S
        self._prometheus: PrometheusSignals | None = None
        self.table: dict[SourceName, Signals] = {"engines": around.signals}
        self.ordered = OrderedSignals(self.table, catalogue, clock, self._query_of, self._said)
        self.tasks: Mapping[str, Task] = {PROMETHEUS: self.follow}

    async def follow(self) -> NoReturn:
        """Ask the Prometheus that is named, for ever, whichever it is by then."""
        while True:
            source = self._source()
            if source is None:
                await asyncio.sleep(self.every_s)
            else:
                await self._ask(source)

    async def _ask(self, source: PrometheusSource) -> None:
        """Ask one until another is named."""
        async with Prometheus(source) as client:
            signals = PrometheusSignals(
                client, self.catalogue, self._view, self._clock, self._namespace
            )
            self.table[PROMETHEUS] = self._prometheus = signals
            try:
                while self._source() == source:
                    await signals.update()
                    await asyncio.sleep(self.every_s)
            finally:
                del self.table[PROMETHEUS]
                self._prometheus = None

    def _source(self) -> PrometheusSource | None:
        """Give the one that is named: by an option, else by the fleet file, which has the rest."""
        said, address = self.catalogue().signals.prometheus, self._named
        if address is None:
            return said
        return PrometheusSource(address=address) if said is None else replace(said, address=address)

    def _query_of(self, model: ModelName, signal: SignalName) -> str:
        asked = self._prometheus
        with suppress(KeyError):  # a model that left the catalogue since
            return "" if asked is None else asked.query_of(model, signal)
        return ""

    def _said(self) -> Sequence[str]:
        return () if self._prometheus is None else self._prometheus.notes
