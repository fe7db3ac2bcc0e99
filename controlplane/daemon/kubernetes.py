"""A real cluster as surroundings: watches, engines, election and Events over one API client.

Imported only where a cluster is named: the embedded fleet needs none of it.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NoReturn

from controlplane.adapters.engines.fleet import EngineFleet
from controlplane.adapters.kubernetes.announcing import Announcements
from controlplane.adapters.kubernetes.cache import Cache
from controlplane.adapters.kubernetes.client import Api, open_api
from controlplane.adapters.kubernetes.cluster import KubernetesCluster
from controlplane.adapters.kubernetes.connecting import AddressError, own_namespace
from controlplane.adapters.kubernetes.fencing import Fenced
from controlplane.adapters.kubernetes.lease import LeaseElection
from controlplane.adapters.kubernetes.refusals import MissingError, RefusedError
from controlplane.adapters.kubernetes.resources import NAMESPACES, Place
from controlplane.adapters.kubernetes.scaled_objects import ScaledObjects
from controlplane.adapters.kubernetes.scope import Scope
from controlplane.adapters.kubernetes.view import Sight
from controlplane.clock import Clock
from controlplane.daemon.surroundings import StartError, Surroundings
from controlplane.domain.catalogue import Catalogue
from controlplane.loops.in_memory import SoleLeader
from controlplane.ports import Leadership, UnavailableError
from controlplane.settings import ServeOptions

IN_CLUSTER = "in-cluster"
LOOKS_S = 1.0  # for whether anything may be written yet
FIRST_LOOK_S = 15.0  # a cluster that shows itself within this has its first cycle with a view


class ElectedWhereItMatters:
    """Stands for election once something may be written, for the lease is itself a write.

    Until then every daemon only advises. Those that share a store agree there on who keeps its
    journal (`advising`); one with a store of its own leads it.
    """

    def __init__(self, election: LeaseElection, acts: Callable[[], bool]) -> None:
        """`acts` says whether anything is to be carried out at all."""
        self.advising: Leadership = SoleLeader("each daemon advises by itself")
        self._election = election
        self._acts = acts

    @property
    def _now(self) -> Leadership:
        return self._election if self._acts() else self.advising

    @property
    def leading(self) -> bool:
        """Say whether this daemon may write right now."""
        return self._now.leading

    @property
    def leader(self) -> str:
        """Name the daemon that leads, as far as is known."""
        return self._now.leader

    @property
    def trouble(self) -> str:
        """Say why nobody can be elected."""
        return self._now.trouble

    @property
    def term(self) -> int:
        """Number the reign; those of the lease and those of the store are never the same."""
        return 2 * self._now.term + self._acts()

    async def run(self) -> NoReturn:
        """Stand for election as soon as it matters."""
        while True:
            if self._acts():
                await self._election.run()
            await asyncio.sleep(LOOKS_S)


@asynccontextmanager
async def kubernetes_surroundings(
    options: ServeOptions, catalogue: Catalogue, clock: Clock, acts: Callable[[], bool]
) -> AsyncIterator[Surroundings]:
    """Look at a cluster until the block ends; then hand over the lease and close everything."""
    wake: list[Callable[[], None]] = []

    def news() -> None:
        for call in wake:
            call()

    async with AsyncExitStack() as stack:
        api = await _api(options)
        stack.push_async_callback(api.close)
        namespace = own_namespace(options.namespace)
        world = await _world(api, namespace)
        identity = f"{socket.gethostname()}-{os.getpid()}"
        election = LeaseElection(api, namespace, identity)
        stack.push_async_callback(election.release)
        election.changed = news
        leadership = ElectedWhereItMatters(election, acts)
        chance = Random()  # noqa: S311  # spreads retries, no secret
        cache = Cache(api, namespace, news, chance, everywhere=options.pods == "all")
        engines = await stack.enter_async_context(EngineFleet(catalogue, clock))
        engines.wake = news
        scope = Scope(api, Fenced(api, leadership), Sight(cache), catalogue)
        cluster = KubernetesCluster(scope, engines, clock)

        async def swap(newer: Catalogue) -> None:
            engines.swap_catalogue(newer)
            await cluster.swap_catalogue(newer)

        announcements = Announcements(scope, identity)
        yield Surroundings(
            world=world,
            title=f"{namespace} at {api.host}",
            acts=False,
            cluster=cluster,
            signals=engines,
            namespace=namespace,
            engines_at=lambda: cluster.engines_at,
            full=lambda: engines.full,
            scaled_objects=ScaledObjects(api, scope.writes, namespace),
            workloads=cluster,
            swap_catalogue=swap,
            on_news=wake.append,
            tasks={
                "watches": cache.run,
                "election": leadership.run,
                "announcements": announcements.run,
            },
            ready=partial(cache.ready, FIRST_LOOK_S),
            leadership=leadership,
            identity=identity,
            advised_by=partial(setattr, leadership, "advising"),
            told=announcements.tell,
        )


async def _api(options: ServeOptions) -> Api:
    said = options.kubeconfig
    try:
        return await open_api(None if said in (None, IN_CLUSTER) else Path(str(said)))
    except AddressError as cause:
        raise StartError(str(cause)) from cause


async def _world(api: Api, namespace: str) -> str:
    """Name the world after the namespace itself: another of the same name is another world."""
    itself = Place(NAMESPACES, namespace, namespace)  # a Role inside it is enough to read it
    try:
        found: dict[str, Any] = await api.get(itself, dict[str, Any])
    except MissingError as cause:
        if cause.reason != "NotFound":  # a balancer's page, another program's
            shows = f"curl -k {api.host}/version shows what it is"
            raise StartError(
                f"kubeconfig: what answers at {api.host} is no API server ({cause}); {shows}"
            ) from cause
        made = f"kubectl create namespace {namespace}"
        raise StartError(f"namespace: there is no {namespace} at {api.host}; {made}") from cause
    except (UnavailableError, RefusedError) as cause:
        raise StartError(f"kubeconfig: {cause}") from cause
    return f"kubernetes-{found['metadata']['uid']}"
