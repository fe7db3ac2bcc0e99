"""Decisions as Kubernetes Events on the Deployments they are about: reason = code (item 8).

People who look at a cluster find out there what happened and why. The same thing said again is one
Event with a count, after a restart too, for its name is made of what it says. Events are news, not
state: where one cannot be written, that is logged once and nothing else comes of it.
"""

import asyncio
from collections import OrderedDict
from typing import NamedTuple, NoReturn

import structlog

from controlplane.adapters.kubernetes.fencing import REFUSALS, NotLeadingError
from controlplane.adapters.kubernetes.refusals import ConflictError, MissingError
from controlplane.adapters.kubernetes.resources import DEPLOYMENTS, EVENTS
from controlplane.adapters.kubernetes.scope import Scope
from controlplane.clock import utc_text, wall
from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.domain.overrides import FLEET
from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import Reason
from controlplane.ports import UnavailableError
from controlplane.render.event import Regarding, again, event
from controlplane.render.naming import Manifest
from controlplane.render.sentences import clause

KNOWN = 2000  # Events whose count is remembered
WAITING = 200  # what comes beyond it while the API server is away is not told
MOST_OF_ONE = 8  # reasons of one decision

log = structlog.stdlib.get_logger(__name__)


class Announcements:
    """Tells the cluster what was decided and done, one after another, in the background."""

    def __init__(self, scope: Scope, reporter: str) -> None:
        """Report under this name."""
        self._scope = scope
        self._reporter = reporter
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._queue: asyncio.Queue[_News] = asyncio.Queue(WAITING)
        self._failing = ""
        self._uids: dict[str, str] = {}

    def tell(self, choice: Choice, outcome: Outcome) -> None:
        """Take note of what was carried out; what only stayed as it was is no news."""
        if outcome.ending is not Ending.DONE or choice.subject == FLEET:
            return
        for about in self._about(choice):
            for reason in choice.trail[:MOST_OF_ONE]:
                if not self._queue.full():
                    self._queue.put_nowait(_News(about, reason, utc_text(wall())))

    async def run(self) -> NoReturn:
        """Write them for ever."""
        while True:
            await self.write(await self._queue.get())

    async def write(self, news: "_News") -> None:
        """Write one, or count it."""
        try:
            uid = await self._uid(news.deployment)
            if uid is not None:
                about = Regarding(name=news.deployment, namespace=self._scope.namespace, uid=uid)
                said = _said(news.reason)
                await self._written(event(about, news.reason.code, said, news.at, self._reporter))
            self._failing = ""
        except NotLeadingError:  # whoever leads tells
            return
        except (*REFUSALS, UnavailableError) as cause:
            if not self._failing:
                log.warning("events are not written", cause=str(cause))
            self._failing = str(cause)

    async def _written(self, made: Manifest) -> None:
        name = made["metadata"]["name"]
        known = self._counts.pop(name, 0)
        times = known + 1 if known else await self._first(made)
        if times > 1:
            try:
                place = self._scope.place(EVENTS, name)
                await self._scope.writes.patch(place, again(times, made["eventTime"]))
            except MissingError:  # Events live for an hour
                times = await self._first(made)
        self._counts[name] = times
        while len(self._counts) > KNOWN:
            self._counts.popitem(last=False)

    async def _first(self, made: Manifest) -> int:
        """Create it; where it is there already, from before a restart, give its next count."""
        try:
            await self._scope.writes.create(self._scope.place(EVENTS), made)
        except ConflictError:
            # A patch of nothing gives the object: no right is needed that writing does not.
            place = self._scope.place(EVENTS, made["metadata"]["name"])
            found = await self._scope.writes.patch(place, {})
            return int((found.get("series") or {}).get("count", 1)) + 1
        return 1

    async def _uid(self, name: str) -> str | None:
        """Give the uid by which `kubectl describe` finds the Events of a Deployment."""
        known = self._uids.get(name)
        if known is None:
            try:
                found = await self._scope.api.get(self._scope.place(DEPLOYMENTS, name), Manifest)
            except MissingError:  # it is not made yet, or KubeRay's: there is nothing to hang it on
                return None
            known = self._uids[name] = str(found["metadata"]["uid"])
        return known

    def _about(self, choice: Choice) -> list[str]:
        """Name the Deployments a decision is about: those it acted on, else the model's first."""
        model = self._scope.catalogue.models.get(ModelName(choice.subject))
        if model is None:
            return []
        acted = {getattr(action, "node_class", None) for action in choice.actions}
        classes = [name for name in model.variants if name in acted] or list(model.variants)[:1]
        return [self._scope.deployment(ModelName(choice.subject), name) for name in classes]


class _News(NamedTuple):
    """What is to be told of a Deployment."""

    deployment: str
    reason: Reason
    at: str


def _said(reason: Reason) -> str:
    said = clause(reason.code, reason.evidence).replace("\u00a0", " ").replace("\u202f", "")
    return f"{said[:1].upper()}{said[1:]}."
