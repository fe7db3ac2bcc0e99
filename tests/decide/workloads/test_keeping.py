"""What stands in the cluster is kept as the catalogue says, and what is another's is left alone."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from controlplane.decide.workloads.cycle import (
    REASSERT_EVERY_S,
    WorkloadsInput,
    WorkloadsMemory,
    cycle,
    decide_workloads,
)
from controlplane.domain.actions import Ensure, Remove
from controlplane.domain.decisions import Choice
from controlplane.domain.quantities import ReplicaName
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.domain.workloads import Piece, Pieces, State, Stray, WorkloadsView
from controlplane.render.sentences import clause

NOW = 10_000.0


def piece(state: State, **more: str) -> Piece:
    return Piece(kind="Deployment", name="chat-t4", state=state, **more)


def decided(*pieces: Piece, strays: tuple[Stray, ...] = ()) -> Choice:
    standing = Pieces(subject="chat", pieces=pieces, strays=strays)
    return decide_workloads(WorkloadsInput(at=NOW, standing=standing))


def test_what_stands_as_it_should_is_not_spoken_of() -> None:
    choice = decided(piece(State.SETTLED))

    assert choice.trail == ()
    assert choice.actions == ()


def test_what_is_missing_is_created() -> None:
    choice = decided(piece(State.MISSING))

    assert choice.decisive is ReasonCode.WORKLOAD_CREATED
    assert choice.actions == (Ensure(kind="Deployment", name="chat-t4"),)


def test_what_the_catalogue_changed_is_changed() -> None:
    choice = decided(piece(State.CHANGED))

    assert choice.decisive is ReasonCode.WORKLOAD_CHANGED
    assert choice.actions == (Ensure(kind="Deployment", name="chat-t4"),)


def test_what_another_owns_is_named_with_the_command_that_shows_it_and_left_alone() -> None:
    choice = decided(
        piece(
            State.FOREIGN,
            by="HorizontalPodAutoscaler chat",
            show="kubectl get hpa chat -n models",
        )
    )

    (reason,) = choice.trail
    assert reason.code is ReasonCode.OWNED_BY_ANOTHER
    assert choice.actions == ()
    assert clause(reason.code, reason.evidence) == (
        "Deployment chat-t4 is in the hands of HorizontalPodAutoscaler chat; "
        "kubectl get hpa chat -n models shows it"
    )


def test_what_cannot_be_written_says_why() -> None:
    choice = decided(piece(State.REFUSED, why="no node of the class is known"))

    assert choice.decisive is ReasonCode.WORKLOAD_REFUSED
    assert Evidence("note", "no node of the class is known") in choice.trail[0].evidence
    assert choice.actions == ()


def test_a_rollout_that_is_stuck_is_said_and_left_to_end() -> None:
    choice = decided(piece(State.STUCK, why="ReplicaSet chat-t4-x has timed out progressing"))

    (reason,) = choice.trail
    assert reason.code is ReasonCode.ROLLOUT_STUCK
    assert choice.actions == ()
    assert clause(reason.code, reason.evidence).endswith(
        ": ReplicaSet chat-t4-x has timed out progressing"
    )


def test_what_the_catalogue_asks_for_no_longer_is_left_to_people() -> None:
    choice = decided(piece(State.LEFT, show="kubectl delete deployment chat-t4 -n models"))

    (reason,) = choice.trail
    assert reason.code is ReasonCode.WORKLOAD_LEFT
    assert choice.actions == ()
    assert "kubectl delete deployment chat-t4" in clause(reason.code, reason.evidence)


def test_a_pod_nobody_keeps_is_deleted() -> None:
    stray = Stray(name=ReplicaName("chat-t4-x"), why="released by its ReplicaSet")

    choice = decided(piece(State.SETTLED), strays=(stray,))

    assert choice.decisive is ReasonCode.DISOWNED
    assert choice.actions == (Remove(replica=stray.name),)


@given(st.lists(st.floats(0.0, 400.0), min_size=1, max_size=40))
def test_drift_is_always_said_and_written_over_once_per_interval(steps: list[float]) -> None:
    drifted = piece(State.DRIFTED, by="kubectl-edit", what="image")
    memory, now, written = WorkloadsMemory(), NOW, []

    for step in steps:
        now += step
        view = WorkloadsView(at=now, subjects=(Pieces(subject="chat", pieces=(drifted,)),))
        (choice,), memory = cycle(view, memory)
        assert choice.decisive is ReasonCode.WORKLOAD_DRIFTED
        if choice.actions:
            assert choice.actions == (Ensure(kind="Deployment", name="chat-t4", force=True),)
            written.append(now)

    assert written
    assert all(b - a >= REASSERT_EVERY_S for a, b in pairwise(written))
