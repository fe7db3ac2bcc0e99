"""The breakers of all models: one state machine each, fed by all workers, kept by the daemon.

They live here and not in the workers, so that there is one probe, and one truth to show and to
journal. What changed goes to whoever journals decisions.
"""

from collections.abc import Callable, Iterable, Mapping

from controlplane.decide.breakers.breaker import CLOSED, Breaker, State, retry_after_s
from controlplane.decide.breakers.happenings import (
    MEANT,
    Asked,
    BreakerSeen,
    Ends,
    Happening,
    LetIn,
    ProbeEnded,
    TakenOut,
    choice,
    step,
)
from controlplane.domain.decisions import Choice
from controlplane.domain.gateway import ServedModel
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.quantities import Instant, ModelName
from controlplane.gateway.messages import Heard


class Breakers:
    """Where every model's breaker stands."""

    def __init__(
        self, changed: Callable[[Choice], None], states: Mapping[ModelName, Breaker] | None = None
    ) -> None:
        """Start where they stood, or with none; `changed` hears of every change."""
        self.states: dict[ModelName, Breaker] = dict(states or {})
        self._policies: dict[ModelName, BreakerPolicy] = {}
        self._changed = changed

    def serve(self, models: Iterable[ServedModel], now: Instant) -> None:
        """Follow these models; who is isolated by hand is, and the others are not."""
        served = list(models)
        self._policies = {model.name: model.breaker for model in served}
        self.states = {model.name: self.states.get(model.name, CLOSED) for model in served}
        for model in served:
            if model.isolated is not None:
                self._happened(model.name, now, TakenOut(model.isolated))
            elif self.states[model.name].state is State.ISOLATED:
                self._happened(model.name, now, LetIn())

    def hear(self, said: Heard, now: Instant) -> None:
        """Count how requests ended."""
        for name, marks in said.models.items():
            self._happened(ModelName(name), now, Ends(marks))
        for name, mark in said.probes.items():
            self._happened(ModelName(name), now, ProbeEnded(MEANT[mark]))

    def probing(self, name: str, now: Instant) -> None:
        """A request goes through as a probe."""
        self._happened(ModelName(name), now, Asked())

    def due(self, now: Instant) -> list[ModelName]:
        """Name the models one request may probe now."""
        waiting = (State.OPEN, State.HALF_OPEN)
        return [n for n, b in self.states.items() if b.state in waiting and now >= b.until]

    def shut(self, now: Instant) -> dict[str, int]:
        """Give the models that take no requests, and after how long to ask again."""
        return {
            name: retry_after_s(breaker, now, self._policies[name])
            for name, breaker in self.states.items()
            if not breaker.passing
        }

    def _happened(self, name: ModelName, now: Instant, what: Happening) -> None:
        """Move a breaker, and tell of it where it changed; of unknown models nothing is kept."""
        before = self.states.get(name)
        if before is None:
            return
        policy = self._policies[name]
        seen = BreakerSeen(at=now, model=name, before=before, policy=policy, happened=what)
        taken = step(seen)
        self.states[name] = taken.breaker
        if taken.trail:
            self._changed(choice(seen, taken))
