"""The embedded world's door honours what people isolate; it knows no broken answers to count."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import NoReturn

import structlog

from controlplane.adapters.sql.store import Store
from controlplane.daemon.breakers import LOOP, BreakerBook
from controlplane.daemon.surroundings import Task
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.gateway import ServedModel
from controlplane.domain.overrides import isolated
from controlplane.domain.quantities import ModelName
from controlplane.gateway.breakers import Breakers
from controlplane.loops.reconcile import Shell
from controlplane.ports import UnavailableError
from controlplane.ports.doors import BreakersView

LOOKS_S = 1.0  # of real time

log = structlog.stdlib.get_logger(__name__)


class WorldDoor:
    """Implements `BreakerReads`."""

    def __init__(
        self,
        shut: Callable[[Collection[ModelName]], None],
        store: Store,
        shell: Shell,
        catalogue: Callable[[], Catalogue],
    ) -> None:
        """`shut` lets the door refuse these models' requests, and no others."""
        self._shut, self._store, self._shell = shut, store, shell
        self._catalogue = catalogue
        self._book = BreakerBook(store, shell)
        self._breakers = Breakers(self._book.changed)

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Give what must run for it."""
        record = partial(self._book.record, lambda: self._breakers.states)
        return {"isolations": self.follow, LOOP: record}

    async def breakers(self) -> BreakersView:
        """Give where they stand."""
        now = self._shell.clock.now()
        return BreakersView(at=now, counts=False, states=dict(self._breakers.states))

    async def ejected(self) -> None:
        """Nobody balances over replicas here: none is left alone."""

    async def settings(self, model: ModelName) -> None:
        """No balancer is ours here."""

    async def follow(self) -> NoReturn:
        """See what people isolated, for ever; what cannot be read leaves the door as it is."""
        while True:
            try:
                await self.look()
            except UnavailableError as cause:
                log.debug("the door stays as it is", cause=str(cause))
            await asyncio.sleep(LOOKS_S)

    async def look(self) -> None:
        """See what people isolated."""
        out = isolated(await self._store.overrides.overrides())
        models = [
            ServedModel(name=name, breaker=model.policy.breaker, isolated=out.get(name))
            for name, model in self._catalogue().models.items()
        ]
        self._breakers.serve(models, self._shell.clock.now())
        self._shut({name for name, one in self._breakers.states.items() if not one.passing})
