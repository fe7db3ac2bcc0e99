"""The breakers of all models: one state machine each, fed by all workers, kept by the daemon.

They live here and not in the workers, so that there is one probe, and one truth to show and to
journal. What changed goes to whoever journals decisions.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from controlplane.decide.breakers.answers import Meaning
from controlplane.decide.breakers.breaker import (
    CLOSED,
    Breaker,
    Leave,
    State,
    Step,
    ask,
    choice,
    heard,
    isolate,
    probed,
    rejoin,
    retry_after_s,
)
from controlplane.domain.decisions import Choice
from controlplane.domain.gateway import ServedModel
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.quantities import Instant, ModelName
from controlplane.gateway.ended import MEANT
from controlplane.gateway.messages import Heard


class Breakers:
    """Where every model's breaker stands."""

    def __init__(self, changed: Callable[[Choice], None]) -> None:
        """Start with none; `changed` hears of every change."""
        self.states: dict[ModelName, Breaker] = {}
        self._policies: dict[str, BreakerPolicy] = {}
        self._changed = changed

    def serve(self, models: Iterable[ServedModel], now: Instant) -> None:
        """Follow these models; who is isolated by hand is, and the others are not."""
        kept: dict[ModelName, Breaker] = {}
        self._policies = {}
        for model in models:
            self._policies[model.name] = model.breaker
            before = kept[model.name] = self.states.get(model.name, CLOSED)
            if model.isolated:
                kept[model.name] = self._note(
                    model.name, before, isolate(before, now, model.isolated)
                )
            elif before.state is State.ISOLATED:
                kept[model.name] = self._note(
                    model.name, before, rejoin(before, now, "an operator")
                )
        self.states = kept

    def hear(self, said: Heard, now: Instant) -> None:
        """Count how requests ended."""
        for name, marks in said.models.items():
            self._step(name, partial(heard_in_order, now, [MEANT[mark] for mark in marks]))
        for name, mark in said.probes.items():
            self._step(name, partial(probe_ended, now, MEANT[mark]))

    def probing(self, name: str, now: Instant) -> None:
        """A request goes through as a probe."""
        self._step(name, lambda b, p: ask(b, now, p))

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

    def _step(self, name: str, go: Callable[[Breaker, BreakerPolicy], Step | Leave]) -> None:
        model = ModelName(name)
        before = self.states.get(model)
        if before is not None:
            step = go(before, self._policies[model])
            self.states[model] = self._note(model, before, step)

    def _note(self, model: ModelName, before: Breaker, step: Step | Leave) -> Breaker:
        if step.trail:
            self._changed(choice(model, before, step))
        return step.breaker


def heard_in_order(
    now: Instant, meanings: Sequence[Meaning], breaker: Breaker, policy: BreakerPolicy
) -> Step:
    """Count how requests ended."""
    return heard(breaker, now, meanings, policy)


def probe_ended(now: Instant, meant: Meaning, breaker: Breaker, policy: BreakerPolicy) -> Step:
    """Hear how the probe ended."""
    return probed(breaker, now, meant, policy)
