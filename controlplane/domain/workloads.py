"""What stands in a real cluster for a model: Deployments, Services, budgets, image holders.

A piece is compared with what the catalogue says; what was found is a state, and who or what made it
so. The embedded cluster has no pieces.
"""

from enum import StrEnum
from typing import TypeAlias

import msgspec

from controlplane.domain.quantities import Instant, ReplicaName


class State(StrEnum):
    """How a piece stands, held against the catalogue."""

    SETTLED = "settled"
    MISSING = "missing"
    CHANGED = "changed"  # the catalogue says otherwise since it was written
    DRIFTED = "drifted"  # somebody else wrote into what is ours
    FOREIGN = "foreign"  # it is somebody else's: never touched
    STUCK = "stuck"  # it is written, and its pods do not come up
    LEFT = "left"  # it is ours, and the catalogue asks for it no longer
    REFUSED = "refused"  # it cannot be written; `why` says what is missing


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """One object, as it was seen."""

    kind: str  # Deployment, Service, PodDisruptionBudget, DaemonSet, RayService
    name: str
    state: State
    by: str = ""  # the field manager or object that drifted it or owns it
    what: str = ""  # the fields it wrote
    why: str = ""  # one sentence for people
    show: str = ""  # the command that shows it

    @property
    def key(self) -> str:
        """Name it among all pieces."""
        return f"{self.kind}/{self.name}"


class Stray(msgspec.Struct, frozen=True, kw_only=True):
    """A pod of ours that nobody keeps: released, orphaned or failed. It may still hold devices."""

    name: ReplicaName
    why: str


class Pieces(msgspec.Struct, frozen=True, kw_only=True):
    """All that stands for one subject: a model, or the fleet."""

    subject: str
    pieces: tuple[Piece, ...] = ()
    strays: tuple[Stray, ...] = ()


class WorkloadsView(msgspec.Struct, frozen=True, kw_only=True):
    """One look at everything that stands."""

    at: Instant
    subjects: tuple[Pieces, ...]


PieceKey: TypeAlias = str
