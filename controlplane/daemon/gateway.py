"""The gateway this daemon runs: told at once of every change of the fleet, asked for its counts.

It serves whoever leads: every daemon admits the requests that reach it. What cannot be seen or does
not hold leaves the last plan in force, for an Envoy without a plan would turn everybody away.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NoReturn, Self

import structlog

from controlplane.adapters.sql.store import Store
from controlplane.clock import heard
from controlplane.daemon.breakers import LOOP, BreakerBook, opened_by_failures
from controlplane.daemon.gateway_plans import Plans
from controlplane.daemon.surroundings import StartError, Surroundings, Task
from controlplane.decide.breakers.breaker import Breaker
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.gateway import GatewayPlan
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import ModelName
from controlplane.domain.queues import Queues
from controlplane.gateway.envoy import EnvoyError, envoy_path
from controlplane.gateway.gateway import Gateway
from controlplane.gateway.queues import queues
from controlplane.gateway.site import GatewayOptions, refuse_unguarded
from controlplane.loops.reconcile import Shell
from controlplane.ports import BreakersView, ClusterSettings, UnavailableError
from controlplane.settings import folder_beside

WORKER = "controlplane.cli.admission_worker"
NOT_STARTED = "the gateway has not started yet"
LOOKS_S = 1.0  # news wakes it sooner

log = structlog.stdlib.get_logger(__name__)


class ServedGateway:
    """Implements `Signals`, `QueueReads` and `BreakerReads`, for what comes through it."""

    def __init__(
        self,
        options: GatewayOptions,
        around: Surroundings,
        plans: Plans,
        store: Store,
        shell: Shell,
        catalogue: Callable[[], Catalogue],
    ) -> None:
        """Nothing runs yet."""
        self._around, self._shell, self._plans = around, shell, plans
        self._catalogue = catalogue
        self._news = asyncio.Event()
        self._book = BreakerBook(store, shell)
        self._trouble = ""
        self._options = options
        self._gateway: Gateway | None = None  # while it runs

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Give what must run for it."""
        return {"gateway": self.follow, LOOP: partial(self._book.record, self._states)}

    async def __aenter__(self) -> Self:
        """See whether there is an Envoy at all."""
        try:
            envoy_path(self._options)
        except EnvoyError as cause:
            raise StartError(str(cause)) from cause
        self._around.on_news(self._news.set)
        return self

    async def __aexit__(self, *_: object) -> None:
        """End it; running requests get their grace."""
        if self._gateway is not None:
            await self._gateway.stop()

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        """Give what its callers bring and feel."""
        if self._gateway is None:
            raise UnavailableError(self._trouble or NOT_STARTED)
        models = tuple(self._catalogue().models)
        return self._gateway.loads.loads(models, self._shell.clock.now())

    async def queues(self) -> Queues:
        """Give who waits at it, and what became of those who came."""
        if self._gateway is None:
            raise UnavailableError(self._trouble or NOT_STARTED)
        return queues(self._gateway.plan, self._gateway.past, self._gateway.began)

    async def breakers(self) -> BreakersView:
        """Give where its breakers stand."""
        if self._gateway is None:
            raise UnavailableError(self._trouble or NOT_STARTED)
        return BreakersView(at=self._shell.clock.now(), counts=True, states=self._states())

    async def ejected(self) -> Mapping[ModelName, int] | None:
        """Count the replicas it leaves alone now, for they failed."""
        return None if self._gateway is None else await self._gateway.ejected()

    async def settings(self, model: ModelName) -> Sequence[ClusterSettings] | None:
        """Give Envoy's settings for a model, as rendered and as they are in force."""
        return None if self._gateway is None else await self._gateway.settings(model)

    def _states(self) -> Mapping[ModelName, Breaker]:
        return {} if self._gateway is None else dict(self._gateway.breakers.states)

    def open_breakers(self) -> Mapping[ModelName, str]:
        """Name those that failures opened, and why; who is isolated by hand is so on purpose."""
        return opened_by_failures(self._states())

    async def follow(self) -> NoReturn:
        """Start it with the first view of the fleet, and tell it of every change, for ever.

        Not sooner: an Envoy that outlived the last daemon still serves by its last plan.
        """
        await self._around.ready()
        while True:
            try:
                await self._tell(await self._plans.newest())
            except UnavailableError as cause:
                log.debug("the gateway keeps its plan", cause=str(cause))
            except (EnvoyError, FaultsError) as cause:
                self._note(str(cause))
            except Exception:  # a bug costs one look, never the daemon
                log.exception("the gateway keeps its plan")
            else:
                self._note("")
            await heard(self._news, LOOKS_S)
            self._news.clear()

    async def _tell(self, plan: GatewayPlan) -> None:
        if self._gateway is not None:
            await self._gateway.update(plan)
            return
        made = Gateway(
            self._options,
            breach=self._breach,
            changed=self._book.changed,
            states=await self._book.remembered(),
        )
        await made.start(plan)
        self._shell.metrics.registry.register(made.metrics)
        self._gateway = made
        log.info("gateway is up", address=f"{self._options.host}:{made.port}")

    def _note(self, trouble: str) -> None:
        """Say once what keeps a plan from being in force, and once that nothing does any more."""
        if trouble and trouble != self._trouble:
            log.error("gateway", trouble=trouble)
        self._trouble = trouble

    def _breach(self, model: str, why: str) -> None:
        log.debug("breach", model=model, why=why)
        self._shell.wake("scaling")


def gateway_of(
    address: str,
    data: str,
    around: Surroundings,
    store: Store,
    shell: Shell,
    catalogue: Callable[[], Catalogue],
) -> ServedGateway:
    """Make the gateway that is to listen at HOST:PORT; `data` says where the store is."""
    host, _, port = address.rpartition(":")
    refuse_unguarded("--gateway", host, catalogue().gateway)
    if around.engines_at is None:
        rule = "needs --kubeconfig: the engines of the embedded cluster are simulated"
        raise FaultsError([Fault("--gateway", None, "", address, rule)])
    site = GatewayOptions(
        folder=folder_beside(data, os.environ) / "gateway",
        worker=WORKER,
        host=host.strip("[]"),
        port=int(port),
    )
    plans = Plans(around, around.engines_at, store, catalogue)
    return ServedGateway(site, around, plans, store, shell, catalogue)
