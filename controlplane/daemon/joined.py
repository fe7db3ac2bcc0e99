"""Gateways that run elsewhere and join this daemon: told what to serve, heard what they count.

Every daemon serves them, leading or not, and each is told the same by all of them; only who leads
acts on what they say. A gateway that vanishes without a word leaves its figures in doubt for a
while: it may go on serving beyond our sight, and what it counts is unknown then, not zero.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import NoReturn

import msgspec
import structlog

from controlplane.adapters.sql.store import Store
from controlplane.clock import heard
from controlplane.daemon.breakers import LOOP, BreakerBook, opened_by_failures
from controlplane.daemon.gateway_plans import Plans
from controlplane.daemon.joined_breakers import JoinedBreakers
from controlplane.daemon.surroundings import Surroundings, Task
from controlplane.decide.breakers.breaker import CLOSED
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.gateway import Endpoint, GatewayPlan
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import ModelName, ReplicaName
from controlplane.domain.queues import Queues
from controlplane.domain.sources import SourceName
from controlplane.gateway.counts import Counts
from controlplane.gateway.joining import Changed, Ejected, Joining, Leaving, Orders, Report
from controlplane.gateway.loads import Loads
from controlplane.gateway.messages import Breach, Counted
from controlplane.gateway.past import Past
from controlplane.gateway.queues import queues
from controlplane.loops.reconcile import Shell
from controlplane.ports import BreakersView, ClusterSettings, Line, Signals, UnavailableError
from controlplane.render.envoy.clusters import clusters
from controlplane.render.envoy.names import cluster_name
from controlplane.render.envoy.settled import written

LOOKS_S = 1.0  # news wakes it sooner
DOUBT_S = 10.0  # after a gateway vanished; its pod is ready no longer by then, or it is back
SOURCE: SourceName = "gateway"
DECODE = msgspec.json.Decoder(Report).decode

log = structlog.stdlib.get_logger(__name__)


class Joined:
    """One gateway, and what it was told last."""

    def __init__(self, who: Joining, line: Line) -> None:
        """It has said who it is, and was told nothing."""
        self.who, self.line = who, line
        self.told: Orders | None = None
        self.leaving = False

    @property
    def at(self) -> Endpoint:
        """Say where it stands."""
        who = self.who
        return Endpoint(
            replica=ReplicaName(who.name), host=who.address, port=who.port, slots=1, zone=who.zone
        )


class JoinedGateways:
    """Implements `Gateways`, and `Signals`, `QueueReads`, `BreakerReads` for what comes by them."""

    def __init__(
        self,
        ready: Callable[[], Awaitable[object]],
        newest: Callable[[], Awaitable[GatewayPlan]],
        store: Store,
        shell: Shell,
        sources: MutableMapping[SourceName, Signals],
    ) -> None:
        """None has joined; while any has, it stands among the sources of signals.

        `ready` returns when there is a fleet to be seen; `newest` gives the plan of then.
        """
        self._ready, self._newest, self._shell, self._sources = ready, newest, shell, sources
        self._book = BreakerBook(store, shell)
        self._breakers = JoinedBreakers(self._book.changed)
        self._news = asyncio.Event()
        self._numbers = count(1)
        self._joined: dict[int, Joined] = {}
        self._ejected: dict[int, Mapping[ModelName, int]] = {}
        self._plan = GatewayPlan()
        self._counts = Counts()
        self._past = Past(self._counts.sums)
        self._loads = Loads(self._past)
        self._since = 0.0
        self._vanished: dict[str, float] = {}  # by name, and until when that is in doubt
        self._remembers = asyncio.Event()
        self._closed = False

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Give what must run for it."""
        return {"gateways": self.follow, LOOP: partial(self._book.record, self._breakers.states)}

    async def close(self) -> None:
        """Send them away; they come again, here or to another daemon."""
        self._closed = True
        for one in list(self._joined.values()):
            await one.line.close()

    # ------------------------------------------------------------------ told and heard

    async def attend(self, line: Line) -> None:
        """Serve a gateway until its line ends."""
        first = await self._said(line)
        await self._remembers.wait()  # one that has just begun goes on from there
        if not isinstance(first, Joining) or self._closed:
            return
        number, one = next(self._numbers), Joined(first, line)
        self._joined[number] = one
        self._vanished.pop(first.name, None)
        self._breakers.joined(number, first.states)
        self._since = self._since or self._shell.clock.now()
        self._sources[SOURCE] = self
        log.info("a gateway has joined", gateway=first.name, address=first.address)
        self._news.set()
        try:
            while (said := await self._said(line)) is not None:
                self._heard(number, one, said)
        finally:
            self._left(number, one)

    async def _said(self, line: Line) -> Report | None:
        """Hear a message; who speaks otherwise than we do is of another version, and unheard."""
        heard = await line.hear()
        try:
            return None if heard is None else DECODE(heard)
        except msgspec.MsgspecError as cause:
            log.warning("a gateway speaks otherwise; are both of one version?", cause=str(cause))
            return None

    def _heard(self, number: int, one: Joined, said: Report) -> None:
        match said:
            case Counted():
                self._counts.take(number, said)
            case Breach(model=model, why=why):
                log.debug("breach", model=model, why=why, gateway=one.who.name)
                self._past.note_news(self._shell.clock.now())
                self._shell.wake("scaling")
            case Changed():
                self._breakers.changed(number, said)
            case Ejected(models=models):
                self._ejected[number] = models
            case Leaving():
                one.leaving = True
            case Joining():
                pass

    def _left(self, number: int, one: Joined) -> None:
        del self._joined[number]
        self._ejected.pop(number, None)
        self._counts.ended(number)
        self._breakers.left(number)
        if not one.leaving:
            self._vanished[one.who.name] = asyncio.get_running_loop().time() + DOUBT_S
        log.info("a gateway has left", gateway=one.who.name, on_purpose=one.leaving)
        self._news.set()

    async def follow(self) -> NoReturn:
        """Tell all of them of every change, for ever."""
        self._breakers.remembered = await self._book.remembered()
        self._remembers.set()
        await self._ready()
        while True:
            if self._joined:
                await self._tell()
            elif not self._in_doubt:
                self._sources.pop(SOURCE, None)
            self._past.note(self._shell.clock.now())
            self._shell.metrics.gateways.set(len(self._joined))
            await heard(self._news, LOOKS_S)
            self._news.clear()

    def look(self) -> None:
        """Something changed that they may have to know."""
        self._news.set()

    async def _tell(self) -> None:
        try:
            self._plan = await self._newest()
        except UnavailableError as cause:
            log.debug("the gateways keep their plan", cause=str(cause))
            return
        except Exception:  # a bug costs one look, never the daemon
            log.exception("the gateways keep their plan")
            return
        every = list(self._joined.values())
        peers = tuple(sorted((one.at for one in every), key=lambda at: at.replica))
        await asyncio.gather(*(self._order(one, peers) for one in every))

    async def _order(self, one: Joined, peers: tuple[Endpoint, ...]) -> None:
        plan = msgspec.structs.replace(self._plan, zone=one.who.zone, peers=peers)
        leading, states = self._shell.leadership.leading, self._breakers.states()
        if one.told is not None and (one.told.plan, one.told.leading) == (plan, leading):
            return
        orders = Orders(plan=plan, states=states if one.told is None else {}, leading=leading)
        try:
            await one.line.say(msgspec.json.encode(orders))
        except UnavailableError as cause:
            log.warning("a gateway does not listen", gateway=one.who.name, cause=str(cause))
            await one.line.close()
        else:
            one.told = orders

    @property
    def _in_doubt(self) -> bool:
        now = asyncio.get_running_loop().time()
        self._vanished = {name: ends for name, ends in self._vanished.items() if ends > now}
        return bool(self._vanished)

    # ------------------------------------------------------------------ read

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        """Give what the callers of all of them bring and feel."""
        if self._in_doubt:
            gone = ", ".join(sorted(self._vanished))
            raise UnavailableError(f"{gone} vanished; what it counts is not known")
        if not self._joined:
            raise UnavailableError("no gateway has joined")
        models = tuple(model.name for model in self._plan.models)
        return self._loads.loads(models, self._shell.clock.now())

    async def queues(self) -> Queues | None:
        """Give who waits at them; None where none ever joined."""
        return queues(self._plan, self._past, self._since) if self._since else None

    async def breakers(self) -> BreakersView | None:
        """Give where their breakers stand: of several gateways', the one that says the worst."""
        if not self._since:
            return None
        now, told = self._shell.clock.now(), self._breakers.states()
        states = {model.name: told.get(model.name, CLOSED) for model in self._plan.models}
        return BreakersView(at=now, counts=True, states=states)

    async def ejected(self) -> Mapping[ModelName, int] | None:
        """Count the replicas that any of them leaves alone now; None while none has said it."""
        told = list(self._ejected.values())
        if not told:
            return None
        names = {name for models in told for name in models}
        return {name: max(models.get(name, 0) for models in told) for name in names}

    async def settings(self, model: ModelName) -> Sequence[ClusterSettings] | None:
        """Give Envoy's settings as they are rendered; what runs, only a gateway's pod can tell."""
        if not self._since:
            return None
        names = [cluster_name(model, lent=lent) for lent in (False, True)]
        return [
            ClusterSettings(name=one["name"], rendered=written(one), live=None)
            for one in clusters(self._plan, "")
            if one["name"] in names
        ]

    def open_breakers(self) -> Mapping[ModelName, str]:
        """Name those that failures opened, and why; who is isolated by hand is so on purpose."""
        return opened_by_failures(self._breakers.states())


@asynccontextmanager
async def joined_gateways(
    around: Surroundings,
    store: Store,
    shell: Shell,
    catalogue: Callable[[], Catalogue],
    sources: MutableMapping[SourceName, Signals],
) -> AsyncIterator[JoinedGateways]:
    """Let gateways join as long as the block runs."""
    if around.engines_at is None:
        raise TypeError("gateways need a cluster with engines that answer")
    plans = Plans(around, around.engines_at, store, catalogue)
    made = JoinedGateways(around.ready, plans.newest, store, shell, sources)
    around.on_news(made.look)
    try:
        yield made
    finally:
        await made.close()
