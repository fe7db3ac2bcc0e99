"""What stands before every act: people's pauses, advisory mode, and the cluster's own no."""

from typing import Literal

import pytest

from controlplane.domain.actions import Action, Lend, Sleep, WarmUp
from controlplane.domain.decisions import DONE, Choice, Ending, Outcome, Target
from controlplane.domain.fleet import FleetView
from controlplane.domain.overrides import FLEET, Override
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.reasons import ReasonCode
from controlplane.loops.acting import Gate, on_cluster
from tests.builders import CHAT

R = ReplicaName("chat-1")
PLAN: tuple[Action, ...] = (WarmUp(R, 1), Lend(R, 2), Sleep(R))
CHOICE = Choice(
    subject=CHAT, current=1, target=1, trail=Target(1).note(ReasonCode.LENT).trail, actions=PLAN
)


class Cluster:
    """A cluster that does what it is told, up to the action it refuses."""

    def __init__(self, refuses: type[Action] | None = None) -> None:
        self.done: list[Action] = []
        self._refuses = refuses

    async def observe(self) -> FleetView:
        return FleetView(at=0.0, nodes=(), replicas=())

    async def apply(self, action: Action) -> Outcome:
        if self._refuses is not None and isinstance(action, self._refuses):
            return Outcome(Ending.REFUSED, "the pod has changed")
        self.done.append(action)
        return DONE


async def act(cluster: Cluster, *overrides: Override, acting: bool = True) -> Outcome:
    gate = Gate(acting=acting)
    gate.overrides = {one.subject: one for one in overrides}
    return await on_cluster(gate, cluster)(CHOICE)


async def test_what_is_decided_is_done_in_order() -> None:
    cluster = Cluster()

    assert (await act(cluster)).ending is Ending.DONE
    assert cluster.done == list(PLAN)


@pytest.mark.parametrize("subject", [CHAT, FLEET])
async def test_a_pause_of_the_model_or_of_all_stops_what_was_already_decided(subject: str) -> None:
    cluster = Cluster()

    outcome = await act(cluster, Override(subject=subject, paused=True, by="ann", at=0.0))

    assert (outcome.ending, outcome.note) == (Ending.PAUSED, "paused by ann")
    assert cluster.done == []


async def test_a_pin_or_a_pause_of_another_model_stops_nothing() -> None:
    cluster = Cluster()
    pin = Override(subject=CHAT, pinned=3, by="ann", at=0.0)

    outcome = await act(cluster, pin, Override(subject="other", paused=True, by="ann", at=0.0))

    assert outcome.ending is Ending.DONE


async def test_advisory_mode_shows_and_does_nothing() -> None:
    cluster = Cluster()

    assert (await act(cluster, acting=False)).ending is Ending.ADVISED
    assert cluster.done == []


@pytest.mark.parametrize(
    ("daemon", "model", "done"),
    [
        ("advise", "act", Ending.DONE),  # one model first, the rest is still watched
        ("act", "advise", Ending.ADVISED),
        ("act", None, Ending.DONE),
        ("advise", None, Ending.ADVISED),
    ],
)
async def test_what_a_model_has_set_for_itself_stands_above_the_daemons_mode(
    daemon: str, model: Literal["act", "advise"] | None, done: Ending
) -> None:
    gate = Gate(acting=daemon == "act", modes=lambda _: model)

    assert (await on_cluster(gate, Cluster())(CHOICE)).ending is done


async def test_law_4_a_plan_ends_at_the_first_no_and_says_how_far_it_came() -> None:
    cluster = Cluster(refuses=Lend)

    outcome = await act(cluster)

    assert outcome == Outcome(Ending.REFUSED, "1 of 3 done, then Lend: the pod has changed")
    assert cluster.done == [PLAN[0]]


async def test_a_pause_stops_a_plan_in_its_middle() -> None:
    cluster, gate = Cluster(), Gate(acting=True)

    class Pausing(Cluster):
        async def apply(self, action: Action) -> Outcome:
            gate.overrides = {CHAT: Override(subject=CHAT, paused=True, by="ann", at=0.0)}
            return await cluster.apply(action)

    outcome = await on_cluster(gate, Pausing())(CHOICE)

    assert outcome == Outcome(Ending.PAUSED, "1 of 3 done, then Lend: paused by ann")
    assert cluster.done == [PLAN[0]]
