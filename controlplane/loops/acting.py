"""Whether a decision may be carried out: advisory mode, and what people paused."""

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.domain.overrides import Overrides, paused
from controlplane.domain.quantities import ModelName
from controlplane.ports import Cluster

ADVISED = Outcome(Ending.ADVISED, "advisory mode: shown, not done")


Modes: TypeAlias = Callable[[str], Literal["act", "advise"] | None]


def _as_the_daemon(_subject: str) -> None:
    return None


class Gate:
    """Stands before every act. `overrides` is refreshed by the loops as they observe."""

    def __init__(self, *, acting: bool, modes: Modes = _as_the_daemon) -> None:
        """Start in advisory or in acting mode; `modes` says what a model has set for itself."""
        self.acting = acting
        self._modes = modes
        self.overrides: Overrides = {}

    def closed(self, subject: str) -> Outcome | None:
        """Give the outcome that stands for not acting, or None when acting is allowed."""
        pause = paused(self.overrides, ModelName(subject))
        if pause is not None:
            return Outcome(Ending.PAUSED, f"paused by {pause.by}")
        return None if self.acts(subject) else ADVISED

    def acts(self, subject: str) -> bool:
        """Say whether what is decided about it may be carried out, pauses aside."""
        mode = self._modes(subject)
        return self.acting if mode is None else mode == "act"


def on_cluster(gate: Gate, cluster: Cluster) -> Callable[[Choice], Awaitable[Outcome]]:
    """Give the act of a loop that writes to the cluster: one action at a time, stop at a no.

    What comes after a refused action was decided on a state that is no longer so.
    """

    async def act(choice: Choice) -> Outcome:
        outcome = Outcome(Ending.DONE)
        for done, action in enumerate(choice.actions):
            held = gate.closed(choice.subject)  # a pause stops a plan in its middle
            if held is not None and not done:
                return held
            outcome = held or await cluster.apply(action)
            if outcome.ending is not Ending.DONE:
                kind = type(action).__name__
                said = f"{done} of {len(choice.actions)} done, then {kind}: {outcome.note}"
                return Outcome(outcome.ending, said)
        return outcome

    return act
