"""The front door of a worker: every model's desk, and what all of them share."""

import asyncio
from collections.abc import Callable, Mapping

from controlplane.clock import stopwatch
from controlplane.domain.gateway import GatewayPlan
from controlplane.gateway.asking import Asked, Directory
from controlplane.gateway.desk import Desk
from controlplane.gateway.entry import Entry, Stage
from controlplane.gateway.refusals import Refusal
from controlplane.gateway.tally import ClassTally

QUIET_S = 0.5  # one word about a model's breach per this time is enough


class Door:
    """Lets requests in. It knows nothing of how they came."""

    def __init__(self, breach: Callable[[str, str], None], share: float = 1.0) -> None:
        """Open with no models; `share` is the part of every model's slots that is ours."""
        self.directory = Directory(GatewayPlan())
        self.desks: dict[str, Desk] = {}
        self.share = share
        self._tell, self._told = breach, dict[tuple[str, str], float]()
        self._loop = asyncio.get_running_loop()
        self.wants: Callable[[], None] | None = None  # somebody waits: more slots are welcome
        self.unplaced: dict[str, int] = {}  # refused before any model was found, by reason

    def serve(self, plan: GatewayPlan) -> None:
        """Put a plan in force; who waits or runs goes on."""
        self.directory = Directory(plan)
        longest_s = plan.policy.longest_wait_s
        for model in plan.models:
            desk = self.desks.get(model.name)
            if desk is None:
                desk = self.desks[model.name] = Desk(model, longest_s, self.breach)
                desk.share = self.share
                if self.wants is not None:  # nothing is ours before it was granted, or refused
                    desk.granted = 0
                    self.wants()
            desk.evictions.on = plan.policy.evict
            desk.revise(model, longest_s)
        for name in [name for name in self.desks if name not in self.directory.models]:
            self.desks.pop(name).close()

    def enter(
        self, headers: Mapping[str, str], body: Mapping[str, object] | None = None
    ) -> tuple[Desk, Entry] | Refusal:
        """Take a request in, or say why not."""
        asked = self.directory.read(headers, body)
        if isinstance(asked, Asked):
            desk = self.desks[asked.model.name]
            entry = desk.offer(asked, self._loop)
            if self.wants is not None and entry.stage is Stage.WAITING:
                self.wants()
            return desk, entry
        code = asked.code.value
        self.unplaced[code] = self.unplaced.get(code, 0) + 1
        return asked

    def shut(self, models: Mapping[str, int]) -> None:
        """Refuse requests for these models, whose breakers are open, and for no others."""
        for name, desk in self.desks.items():
            desk.shut = models.get(name)
            desk.probe = desk.probe and desk.shut is not None

    def probe(self, model: str) -> None:
        """Let the next request of a model through its open breaker."""
        if model in self.desks:
            self.desks[model].probe = True

    def carry(self, foreign: Mapping[str, int]) -> None:
        """Count running requests nobody has a stream of."""
        for name, desk in self.desks.items():
            desk.carry(foreign.get(name, 0))

    def breach(self, model: str, why: str) -> None:
        """Pass the news on, once in a while."""
        now = stopwatch()
        if now - self._told.get((model, why), -QUIET_S) >= QUIET_S:
            self._told[model, why] = now
            self._tell(model, why)

    def look(self) -> dict[str, list[ClassTally]]:
        """Note how everything is now; give what was counted where something happened."""
        now = stopwatch()
        busy = {name: desk for name, desk in self.desks.items() if desk.stirred}
        for desk in busy.values():
            desk.look(now)
        return {name: desk.tallies for name, desk in busy.items()}

    def look_at(self, model: str) -> dict[str, list[ClassTally]]:
        """Note how one model is now; give what was counted there."""
        desk = self.desks.get(model)
        if desk is None:
            return {}
        desk.look(stopwatch())
        return {model: desk.tallies}

    @property
    def busy(self) -> int:
        """How many requests wait or run."""
        return sum(d.admission.waiting + sum(d.admission.in_flight) for d in self.desks.values())
