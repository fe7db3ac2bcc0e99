"""The breakers of several gateways as one: a model is as bad as the worst of them says.

Each gateway has breakers of its own, fed by the answers that came through it. Written down is what
changes for the model: the first that opens, the last that closes.
"""

from collections.abc import Callable, Mapping

from controlplane.decide.breakers.breaker import CLOSED, Breaker, State
from controlplane.domain.decisions import Choice
from controlplane.domain.quantities import ModelName
from controlplane.gateway.joining import Changed

WORSE = (State.CLOSED, State.HALF_OPEN, State.OPEN, State.ISOLATED)


class JoinedBreakers:
    """Where every model's breaker stands at every gateway."""

    def __init__(self, changed: Callable[[Choice], None]) -> None:
        """None has joined; `changed` hears of each change of a model."""
        self.remembered: Mapping[ModelName, Breaker] = {}
        self._at: dict[int, dict[ModelName, Breaker]] = {}
        self._changed = changed

    def joined(self, number: int, states: Mapping[ModelName, Breaker]) -> None:
        """Take in where those of one gateway stand; one that has just begun goes on from ours."""
        self._at[number] = dict(states or self.states())

    def left(self, number: int) -> None:
        """Forget one gateway's; the last one's are where the next goes on from."""
        if len(self._at) == 1:
            self.remembered = self.states()
        del self._at[number]

    def changed(self, number: int, said: Changed) -> None:
        """Take in a change at one gateway, and tell it where it changes something for the model."""
        model = ModelName(said.choice.subject)
        before = self._worst(model)
        self._at[number][model] = said.breaker
        if self._worst(model).state is not before.state:
            self._changed(said.choice)

    def states(self) -> Mapping[ModelName, Breaker]:
        """Give every model's; while no gateway is there, as they stood last."""
        if not self._at:
            return self.remembered
        return {name: self._worst(name) for states in self._at.values() for name in states}

    def _worst(self, model: ModelName) -> Breaker:
        told = [states[model] for states in self._at.values() if model in states]
        return max(told, key=lambda b: (WORSE.index(b.state), b.failures), default=CLOSED)
