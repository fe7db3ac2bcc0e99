"""A gateway that serves what daemons say: it joins all of them, and follows the one that leads.

While none can be reached it goes on with what it was told last, also after it began anew: that is
kept in its folder. What it counts and what its breakers do goes to every daemon, for any of them
may lead next.
"""

import asyncio
from pathlib import Path
from typing import NoReturn

import msgspec
import structlog
from prometheus_client import CollectorRegistry

from controlplane.clock import heard, stopwatch
from controlplane.domain.decisions import Choice
from controlplane.domain.faults import FaultsError
from controlplane.domain.quantities import ModelName
from controlplane.gateway.counts import Counts
from controlplane.gateway.gateway import Gateway
from controlplane.gateway.joining import Changed, Ejected, Joining, Leaving, Orders, Report
from controlplane.gateway.link import Link
from controlplane.gateway.messages import Breach
from controlplane.gateway.site import GatewayOptions, refuse_unguarded
from controlplane.gateway.written import put

KEPT = "orders.json"
REPORT_EVERY_S, EJECTED_EVERY_S = 0.5, 2.0
TOGETHER_S = 0.02  # news that come together go together
STARTING = "it has not been told what to serve yet: no daemon was reached"

log = structlog.stdlib.get_logger(__name__)


class Member:
    """One gateway among several."""

    def __init__(self, options: GatewayOptions, who: Joining, registry: CollectorRegistry) -> None:
        """Nothing runs yet; `who` is how it names itself to daemons."""
        self._options, self._who, self._registry = options, who, registry
        self.links: list[Link] = []
        self.gateway: Gateway | None = None  # while it runs
        self._orders: Orders | None = None
        self._followed: Link | None = None
        self._news, self._urgent = asyncio.Event(), asyncio.Event()
        self._ejected_at = float("-inf")
        self._trouble = ""  # what is wrong with what we were told last

    @property
    def who(self) -> Joining:
        """Say who it is, and where its breakers stand."""
        gateway = self.gateway
        states = {} if gateway is None else dict(gateway.breakers.states)
        return msgspec.structs.replace(self._who, states=states)

    @property
    def counts(self) -> Counts | None:
        """Give what was counted, once it serves."""
        return None if self.gateway is None else self.gateway.counts

    def found(self, links: list[Link]) -> None:
        """These are the daemons now."""
        self.links = links
        self.ordered()

    async def missing(self) -> str:
        """Say what keeps requests from being served; nothing does where it is empty."""
        gateway = self.gateway
        if gateway is None:
            return self._trouble or STARTING
        if not gateway.ready:
            return "an admission worker is starting"
        if gateway.envoy is not None and not await gateway.envoy.ready():
            return "Envoy does not say that it is ready"
        return ""

    def ordered(self) -> None:
        """A daemon has spoken, or one was lost: follow who leads, else whom we followed."""
        spoken = [link for link in self.links if link.open and link.orders is not None]
        leading = [link for link in spoken if link.orders is not None and link.orders.leading]
        wanted = leading or spoken
        if wanted and self._followed not in wanted:
            self._followed = wanted[0]
        orders = None if self._followed is None else self._followed.orders
        if orders is not None and orders is not self._orders:
            self._orders = orders
            self._news.set()

    async def run(self) -> NoReturn:
        """Serve what was said last, for ever. Raises EnvoyError when Envoy does not come up."""
        self._orders = kept(self._options.folder / KEPT)
        self._news.set()
        while True:
            await self._news.wait()
            self._news.clear()
            orders = self._orders
            if orders is None:
                continue
            try:
                await self._serve(orders)
            except FaultsError as cause:
                self._trouble = str(cause)
                log.warning("the gateway keeps its plan", cause=self._trouble)
            else:
                self._trouble = ""
                put(self._options.folder / KEPT, msgspec.json.encode(orders))

    async def _serve(self, orders: Orders) -> None:
        refuse_unguarded("--host", self._options.host, orders.plan.policy)
        if self.gateway is not None:
            await self.gateway.update(orders.plan)
            return
        made = Gateway(
            self._options, breach=self._breach, changed=self._changed, states=orders.states
        )
        await made.start(orders.plan)
        self._registry.register(made.metrics)
        self.gateway = made
        log.info("gateway is up", address=f"{self._options.host}:{made.port}")

    async def report(self) -> NoReturn:
        """Tell every daemon what was counted, twice a second, and news at once."""
        while True:
            if await heard(self._urgent, REPORT_EVERY_S):
                await asyncio.sleep(TOGETHER_S)
            self._urgent.clear()
            if self.gateway is None:
                continue
            if stopwatch() - self._ejected_at >= EJECTED_EVERY_S:
                self._ejected_at = stopwatch()
                ejected = await self.gateway.ejected()
                if ejected is not None:
                    out = {name: n for name, n in ejected.items() if n}
                    self._to_all(Ejected(out))
            counts = self.gateway.counts
            await asyncio.gather(*(link.report(counts) for link in self.links if link.open))

    async def stop(self) -> None:
        """Say goodbye and end; Envoy goes on until whoever runs it ends it."""
        self._to_all(Leaving())
        for link in self.links:
            await link.close()
        if self.gateway is not None:
            await self.gateway.stop(leave_envoy=True)

    def _breach(self, model: str, why: str) -> None:
        self._to_all(Breach(model, why))

    def _changed(self, choice: Choice) -> None:
        if self.gateway is not None:
            breaker = self.gateway.breakers.states[ModelName(choice.subject)]
            self._to_all(Changed(choice, breaker))

    def _to_all(self, report: Report) -> None:
        for link in self.links:
            link.tell(report)
        self._urgent.set()


def kept(path: Path) -> Orders | None:
    """Give what was said last before we began; nothing, if there is none of this version."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Orders)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
