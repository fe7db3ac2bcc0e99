"""The gateway, for whoever runs it: `start`, `update` with each new plan, `stop`.

A plan with a fault is refused and the old one stays: first what can be seen in the plan, then, when
more than endpoints changed, by asking Envoy itself, before one of its files is touched.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from socket import gethostname

import msgspec
import structlog

from controlplane.clock import wall
from controlplane.decide.breakers.breaker import Breaker
from controlplane.domain.decisions import Choice
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.gateway import GatewayPlan
from controlplane.domain.quantities import ModelName
from controlplane.gateway.admin import Admin
from controlplane.gateway.breakers import Breakers
from controlplane.gateway.counts import Counts
from controlplane.gateway.envoy import Beside, Envoy, envoy_path, refused
from controlplane.gateway.exposed import GatewayMetrics
from controlplane.gateway.loads import Loads
from controlplane.gateway.messages import (
    Breach,
    Counted,
    Event,
    Foreign,
    Heard,
    Open,
    Probe,
    Probing,
    Ready,
    Serve,
    Shut,
)
from controlplane.gateway.past import Past
from controlplane.gateway.site import GatewayOptions, prepare, refuse_taken
from controlplane.gateway.workers import Crew
from controlplane.gateway.written import encoded, put, put_all, sweep
from controlplane.ports.doors import ClusterSettings
from controlplane.render.envoy import bootstrap, plan_faults, whole, xds_files
from controlplane.render.envoy.clusters import clusters
from controlplane.render.envoy.names import cluster_name
from controlplane.render.envoy.settled import written

LOOK_EVERY_S = 0.25
KNOWN_WITHIN_S = 1.0  # Envoy usually needs milliseconds to read a file of endpoints

log = structlog.stdlib.get_logger(__name__)


class Gateway:
    """One gateway: its workers, its Envoy, its breakers."""

    def __init__(
        self,
        options: GatewayOptions,
        *,
        breach: Callable[[str, str], None] = lambda _model, _why: None,
        changed: Callable[[Choice], None] = lambda _choice: None,
        states: Mapping[ModelName, Breaker] | None = None,
    ) -> None:
        """Nothing runs yet. Breakers begin where they stood; `changed` hears when one changes.

        `breach(model, why)` is called at once when something is worth deciding on (turned-away,
        waiting while nobody serves, wait).
        """
        self.options = options
        self.site = prepare(options)
        self.counts = Counts()
        self.breakers = Breakers(changed, states)
        self.plan = GatewayPlan()
        self.past = Past(self.counts.sums)
        self.loads = Loads(self.past)
        self.began = wall()
        self.metrics = GatewayMetrics(self.counts, self.breakers, self._names)
        self.port = options.port
        self._breach = breach
        self._admin = Admin(self.site.admin[0])
        kind = Beside if options.beside else Envoy
        self.envoy = None if options.proxy else kind(options, self._admin)
        self._crew = Crew(options.worker, self._openings(), self._heard, self._lost)
        self._tasks: list[asyncio.Task[None]] = []
        self._shut: dict[str, int] = {}
        self._foreign: dict[str, int] = {}
        self._checked: bytes = b""  # what Envoy found good last, endpoints apart
        self._probes = 0

    async def start(self, plan: GatewayPlan) -> None:
        """Start everything; raises FaultsError or EnvoyError, and then nothing runs."""
        await self._check(plan)
        found = False
        if self.envoy is not None:
            start = encoded(bootstrap(plan, self.site))
            changed = put(self.options.folder / "bootstrap.json", start)
            found = await self.envoy.found(same=not changed)
            if found:
                self._foreign = await self._alone(plan)
        if not (found or self.options.beside):
            await refuse_taken(self.options.host, self.options.port)
        self._write(plan)
        self._tell(plan)
        try:
            await self._crew.start()
            if self.envoy is not None and not found:
                await self.envoy.start()
        except BaseException:
            await self._crew.end(0.0)
            raise
        self._tasks = [asyncio.create_task(self._look(), name="gateway")]
        if self.envoy is not None:
            self._tasks.append(asyncio.create_task(self.envoy.watch(), name="envoy"))

    def _names(self) -> list[ModelName]:
        return [model.name for model in self.plan.models]

    @property
    def ready(self) -> bool:
        """Say whether every worker serves."""
        return self._crew.ready

    @property
    def pids(self) -> list[int]:
        """Process ids of the admission workers."""
        return self._crew.pids

    async def update(self, plan: GatewayPlan) -> None:
        """Have workers serve a plan; raises FaultsError, and the old one stays, if it is faulty."""
        if plan == self.plan:
            return
        await self._check(plan)
        begin = newly_served(self.plan, plan)
        self._write(plan)
        if begin and self.envoy is not None:
            await self._admin.members(begin, KNOWN_WITHIN_S)
        self._tell(plan)
        await self._crew.obeyed()

    async def ejected(self) -> Mapping[ModelName, int] | None:
        """Count the replicas that are left alone now; without Envoy nobody leaves any alone."""
        return None if self.envoy is None else await self._admin.ejected()

    async def settings(self, model: ModelName) -> list[ClusterSettings] | None:
        """Give Envoy's settings for a model: as rendered, and as it says that they are."""
        if self.envoy is None:
            return None
        found = []
        names = [cluster_name(model, lent=lent) for lent in (False, True)]
        for rendered in clusters(self.plan, self.site.folder):
            if rendered["name"] in names:
                live = await self._admin.cluster(rendered["name"])
                told = None if live is None else written(live)
                name, ours = rendered["name"], written(rendered)
                found.append(ClusterSettings(name=name, rendered=ours, live=told))
        return found

    async def stop(self, *, leave_envoy: bool = False) -> None:
        """End; who runs or waits gets its grace. `leave_envoy` to the daemon that comes next."""
        tasks, self._tasks = self._tasks, []
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.envoy is not None and not leave_envoy:
            await self._admin.drain()
        await self._crew.end(self.options.grace_s)
        if self.envoy is not None and not leave_envoy:
            await self.envoy.end()

    def _write(self, plan: GatewayPlan) -> None:
        """Write Envoy's files: it must know a replica before anybody is admitted to it."""
        if self.envoy is not None:
            files = xds_files(plan, self.site)
            put_all(self.options.folder, files)
            sweep(self.options.folder, files)

    def _tell(self, plan: GatewayPlan) -> None:
        """Let breakers and workers follow the plan."""
        self.plan = plan
        self.breakers.serve(plan.models, wall())
        self._crew.tell(Serve(plan))
        self._crew.tell(Foreign(self._foreign))
        self._tell_shut(force=True)

    async def _check(self, plan: GatewayPlan) -> None:
        """Refuse a plan that does not hold."""
        faults = plan_faults(plan)
        if faults:
            raise FaultsError(faults)
        if self.envoy is None:
            return
        shape = encoded(whole(_without_endpoints(plan), self.site))
        if shape == self._checked:
            return
        tried = self.options.folder / "tried.json"
        put(tried, encoded(whole(plan, self.site)))
        against = await refused(envoy_path(self.options), tried)
        if against is not None:
            raise FaultsError([Fault("gateway", None, "", "", f"Envoy refuses it: {against}")])
        self._checked = shape

    def _openings(self) -> list[Open]:
        options, n = self.options, self.options.workers
        return [
            Open(
                listen="" if options.proxy else f"unix:{path}",
                secret=self.site.secret,
                share=1.0 / n,
                name=f"{gethostname()}-{os.getpid()}-{index}",
                proxy=(options.host, options.port) if options.proxy else None,
                shared=options.shared,
            )
            for index, (path, _) in enumerate(self.site.workers)
        ]

    def _heard(self, worker: int, event: Event) -> None:
        """Hear what a worker says."""
        match event:
            case Breach(model=model, why=why):
                self.past.note_news(wall())
                self._breach(model, why)
            case Counted():
                self.counts.take(worker, event)
            case Heard():
                self.breakers.hear(event, wall())
                self._tell_shut()
            case Probing(model=model):
                self.breakers.probing(model, wall())
                self._tell_shut()
            case Ready(port=port):
                self.port = port or self.port

    async def _lost(self, worker: int) -> None:
        """A worker has ended; what it had admitted goes on in Envoy, and holds slots."""
        self.counts.ended(worker)
        if self.envoy is None:
            return
        self._foreign = await self._alone(self.plan)
        self._crew.tell(Foreign(self._foreign))

    async def _alone(self, plan: GatewayPlan) -> dict[str, int]:
        """Count what runs without a stream of ours; as before while Envoy does not say."""
        active, ours = await self._admin.running(), self.counts.running
        if active is None:
            return self._foreign
        alone = {m.name: active.get(m.name, 0) - ours.get(m.name, 0) for m in plan.models}
        return {name: count for name, count in alone.items() if count > 0}

    def _tell_shut(self, *, force: bool = False) -> None:
        shut = self.breakers.shut(wall())
        if force or shut != self._shut:  # who is refused hears how long it still takes
            self._crew.tell(Shut(shut))
        self._shut = shut

    async def _look(self) -> None:
        """See what time brings: breakers to probe, requests from before a restart that ended."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            self.past.note(wall())
            self._tell_shut()
            for model in self.breakers.due(wall()):
                self._probes += 1
                self._crew.tell(Probe(model), only=self._probes % self._crew.count)
            if self._foreign:
                await self._recount()

    async def _recount(self) -> None:
        """Requests from before a restart only become fewer."""
        alone = await self._alone(self.plan)
        left = {model: min(count, alone.get(model, 0)) for model, count in self._foreign.items()}
        left = {model: count for model, count in left.items() if count}
        if left != self._foreign:
            self._foreign = left
            self._crew.tell(Foreign(left))


def _without_endpoints(plan: GatewayPlan) -> GatewayPlan:
    """Endpoints come and go and are checked by themselves; how many there are shapes clusters."""
    replace = partial(msgspec.structs.replace, endpoints=())
    return msgspec.structs.replace(plan, models=tuple(replace(m) for m in plan.models))


def newly_served(before: GatewayPlan, plan: GatewayPlan) -> list[str]:
    """Name the clusters nobody was in and somebody is now: who waits there is admitted at once."""
    had = set(_peopled(before))
    return [name for name in _peopled(plan) if name not in had]


def _peopled(plan: GatewayPlan) -> Iterator[str]:
    for model in plan.models:
        for lent in (False, True):
            if any(at.taking for at in (model.lending if lent else model.serving)):
                yield cluster_name(model.name, lent=lent)
