"""The workloads' cycle: make what is missing, change what the catalogue changed, re-assert drift.

Somebody else's object is never touched. What another field manager wrote into ours is said, and
written over once per interval only: two who disagree must not write at each other all day (law 6).
"""

from collections.abc import Mapping

import msgspec

from controlplane.domain.actions import Action, Ensure, Remove
from controlplane.domain.decisions import Choice, Target
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import Evidence, ReasonCode
from controlplane.domain.workloads import Piece, PieceKey, Pieces, State, WorkloadsView

REASSERT_EVERY_S = 60.0

_WRITTEN = {
    State.MISSING: ReasonCode.WORKLOAD_CREATED,
    State.CHANGED: ReasonCode.WORKLOAD_CHANGED,
    State.DRIFTED: ReasonCode.WORKLOAD_DRIFTED,
}
_LEFT = {
    State.FOREIGN: ReasonCode.OWNED_BY_ANOTHER,
    State.REFUSED: ReasonCode.WORKLOAD_REFUSED,
    State.STUCK: ReasonCode.ROLLOUT_STUCK,
    State.LEFT: ReasonCode.WORKLOAD_LEFT,
}


class WorkloadsInput(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the decision about one subject depends on."""

    at: Instant
    standing: Pieces
    reasserted: Mapping[PieceKey, Instant] = {}


class WorkloadsMemory(msgspec.Struct, frozen=True, kw_only=True):
    """When drift was last written over, by piece."""

    reasserted: Mapping[PieceKey, Instant] = {}


def cycle(
    seen: WorkloadsView, memory: WorkloadsMemory
) -> tuple[tuple[Choice, ...], WorkloadsMemory]:
    """Decide about every subject; only those with something to say speak."""
    choices = []
    reasserted = {
        key: at for key, at in memory.reasserted.items() if seen.at - at < REASSERT_EVERY_S
    }
    for standing in seen.subjects:
        keys = {piece.key for piece in standing.pieces}
        known = {key: at for key, at in reasserted.items() if key in keys}
        choice = decide_workloads(WorkloadsInput(at=seen.at, standing=standing, reasserted=known))
        if choice.trail:
            choices.append(choice)
        for action in choice.actions:
            if isinstance(action, Ensure) and action.force:
                reasserted[action.key] = seen.at
    return tuple(choices), WorkloadsMemory(reasserted=reasserted)


def decide_workloads(seen: WorkloadsInput) -> Choice:
    """Decide what happens to one subject's objects. Pure: the same input, the same choice."""
    figure = Target(len(seen.standing.pieces))
    actions: list[Action] = []
    for piece in seen.standing.pieces:
        if piece.state in _LEFT:
            figure = figure.note(_LEFT[piece.state], *_evidence(piece))
        elif piece.state in _WRITTEN:
            figure = figure.note(_WRITTEN[piece.state], *_evidence(piece))
            drifted = piece.state is State.DRIFTED
            if not drifted or piece.key not in seen.reasserted:
                actions.append(Ensure(kind=piece.kind, name=piece.name, force=drifted))
    for stray in seen.standing.strays:
        said = Evidence("replica", stray.name), Evidence("note", stray.why)
        figure = figure.note(ReasonCode.DISOWNED, *said)
        actions.append(Remove(replica=stray.name))
    return Choice(
        subject=seen.standing.subject,
        current=figure.replicas,
        target=figure.replicas,
        trail=figure.trail,
        actions=tuple(actions),
        seen=seen,
    )


def _evidence(piece: Piece) -> tuple[Evidence, ...]:
    said = {
        "object": f"{piece.kind} {piece.name}",
        "by": piece.by,
        "field": piece.what,
        "note": piece.why,
        "show": piece.show,
    }
    return tuple(Evidence(name, value) for name, value in said.items() if value)
