"""Whether a decision may be carried out: advisory mode, and what people paused."""

from collections.abc import Awaitable, Callable

from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.domain.overrides import Overrides, paused
from controlplane.domain.quantities import ModelName
from controlplane.ports import Cluster

ADVISED = Outcome(Ending.ADVISED, "advisory mode: shown, not done")


class Gate:
    """Stands before every act. `overrides` is refreshed by the loops as they observe."""

    def __init__(self, *, acting: bool) -> None:
        """Start in advisory or in acting mode."""
        self.acting = acting
        self.overrides: Overrides = {}

    def closed(self, subject: str) -> Outcome | None:
        """Give the outcome that stands for not acting, or None when acting is allowed."""
        pause = paused(self.overrides, ModelName(subject))
        if pause is not None:
            return Outcome(Ending.PAUSED, f"paused by {pause.by}")
        return None if self.acting else ADVISED


def on_cluster(gate: Gate, cluster: Cluster) -> Callable[[Choice], Awaitable[Outcome]]:
    """Give the act of a loop that writes to the cluster: one action at a time, stop at a no.

    What comes after a refused action was decided on a state that is no longer so.
    """

    async def act(choice: Choice) -> Outcome:
        held = gate.closed(choice.subject)
        if held is not None:
            return held
        outcome = Outcome(Ending.DONE)
        for done, action in enumerate(choice.actions):
            outcome = await cluster.apply(action)
            if outcome.ending is not Ending.DONE:
                kind = type(action).__name__
                said = f"{done} of {len(choice.actions)} done, then {kind}: {outcome.note}"
                return Outcome(outcome.ending, said)
        return outcome

    return act
