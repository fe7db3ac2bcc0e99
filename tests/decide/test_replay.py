"""Every loop's stored input can be decided on again, and what is not understood says so."""

import msgspec
import pytest

from controlplane.decide.breakers.breaker import CLOSED
from controlplane.decide.breakers.happenings import BreakerSeen, TakenOut, decide_breaker
from controlplane.decide.costs.cycle import Metered, decide_metered
from controlplane.decide.reload import Candidate, decide_reload
from controlplane.decide.replay import DECIDERS, decide_again
from controlplane.decide.scaling.decision import decide_scale
from controlplane.decide.workloads.cycle import WorkloadsInput, decide_workloads
from controlplane.domain.decisions import Choice
from controlplane.domain.overrides import Isolation
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.workloads import Piece, Pieces
from controlplane.domain.workloads import State as StandingState
from tests.builders import CHAT, a_class_load, a_load, an_input

CHOICES = {
    "scaling": decide_scale(an_input(a_load(a_class_load(700.0, 90.0, turned_away=3.0)))),
    "metering": decide_metered(Metered(until=60_000.0, rows=44, late_s=540.0)),
    "breakers": decide_breaker(
        BreakerSeen(
            at=7.0,
            model=CHAT,
            before=CLOSED,
            policy=BreakerPolicy(),
            happened=TakenOut(Isolation(by="ops", at=6.0, why="corrupt weights")),
        )
    ),
    "catalogue": decide_reload(Candidate(text="x", source="f", version=1, models=7)),
    "workloads": decide_workloads(
        WorkloadsInput(
            at=1.0,
            standing=Pieces(
                subject="chat",
                pieces=(Piece(kind="Service", name="chat", state=StandingState.MISSING),),
            ),
        )
    ),
}
LOOPS = {"scaling", "spare", "placement", "metering", "catalogue", "workloads", "breakers"}


def test_every_loop_has_its_decider() -> None:
    assert set(DECIDERS) == set(LOOPS)


@pytest.mark.parametrize("loop", CHOICES)
def test_a_stored_choice_is_decided_again_identically(loop: str) -> None:
    choice: Choice = CHOICES[loop]

    again = decide_again(loop, msgspec.json.encode(choice.seen))

    assert (again.trail, again.actions, again.target) == (
        choice.trail, choice.actions, choice.target,
    )  # fmt: skip


def test_an_altered_input_shows() -> None:
    choice = CHOICES["scaling"]
    altered = msgspec.json.encode(choice.seen).replace(b'"x":700.0', b'"x":100.0')

    assert decide_again("scaling", altered).trail != choice.trail


def test_an_unknown_loop_and_an_unreadable_input_are_said() -> None:
    with pytest.raises(ValueError, match="'weather' has no replay"):
        decide_again("weather", b"{}")
    with pytest.raises(ValueError, match="written by another version"):
        decide_again("scaling", b'{"at":"noon"}')
