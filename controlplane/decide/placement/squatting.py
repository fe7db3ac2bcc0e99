"""One model waits for a class on which smaller ones sit: which of them is to leave, and where to.

The input is small and whole, so that the decision can be stored and taken again.
"""

from collections.abc import Mapping, Sequence

import msgspec

from controlplane.domain.decisions import Choice, Target
from controlplane.domain.quantities import ClassName, Instant, ModelName, NodeName
from controlplane.domain.reasons import Evidence, ReasonCode, Refusal


class Squatter(msgspec.Struct, frozen=True, kw_only=True):
    """A model that holds devices bigger than it needs, and what it would take to move it."""

    model: ModelName
    target: int  # replicas it wants in service; a move never changes it
    replicas: int  # of it on this class; all of them leave
    holds: Mapping[NodeName, int]  # devices they hold
    importance: int
    need_gib: float
    usable_gib: float  # of what one replica holds here
    to: ClassName | None = None  # the cheapest smaller class with room for all; None: there is none
    refused: tuple[Refusal, ...] = ()  # the classes that will not do, and why


class Squatting(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the decision depends on."""

    at: Instant
    waiting: ModelName
    target: int  # replicas the waiting model wants in service
    node_class: ClassName
    wanted: int  # replicas of it that find no device on this class
    devices: int  # that one of them needs, on one node
    inventory: str = ""  # why the nodes are unknown; empty when they are known
    there: int = 0  # devices of the class that exist
    free: Mapping[NodeName, int] = {}  # free now or about to be
    squatters: tuple[Squatter, ...] = ()


def placeable(free: Mapping[NodeName, int], devices: int) -> int:
    """Say how many replicas of so many devices fit; a replica sits on one node."""
    return sum(left // devices for left in free.values() if left > 0)


def leaver(seen: Squatting) -> Squatter | None:
    """Give the model that is to leave next, if its leaving helps.

    Models join the set of leavers in order of rank until the waiting one fits; those without whom
    it fits as well are taken out again. The first of the rest goes now, the others in later cycles.
    """
    if seen.inventory or placeable(seen.free, seen.devices) >= seen.wanted:
        return None
    leaving: list[Squatter] = []
    for squatter in sorted((s for s in seen.squatters if s.to is not None), key=rank):
        if _fitting(seen, leaving) >= seen.wanted:
            break
        leaving.append(squatter)
    best = min(_fitting(seen, leaving), seen.wanted)
    if best <= placeable(seen.free, seen.devices):
        return None
    for squatter in reversed(leaving[:]):
        others = [other for other in leaving if other is not squatter]
        if _fitting(seen, others) >= best:
            leaving = others
    return leaving[0]


def decide_squatting(seen: Squatting) -> Choice:
    """Decide about one waiting model and one class; no figure moves, the reasons are the result."""
    if seen.inventory:
        unknown = Evidence("why", seen.inventory)
        return _held(seen, ReasonCode.INVENTORY_UNKNOWN, unknown)
    if not seen.there:
        return _held(seen, ReasonCode.NO_DEVICES, Evidence("node_class", seen.node_class))
    leaving = leaver(seen)
    if leaving is None:
        return _held(seen, ReasonCode.NO_DEVICE_FREE, Evidence("node_class", seen.node_class))
    trail = Target(leaving.target).note(
        ReasonCode.SQUATTING,
        Evidence("node_class", seen.node_class),
        Evidence("waiting", seen.waiting),
        Evidence("to", leaving.to),
        Evidence("need", leaving.need_gib, leaving.usable_gib, "GiB"),
        Evidence("moved", leaving.replicas, None, "replicas"),
    )
    return Choice(
        subject=leaving.model,
        current=leaving.target,
        target=leaving.target,
        trail=trail.trail,
        refused=leaving.refused,
        seen=seen,
    )


def _held(seen: Squatting, code: ReasonCode, evidence: Evidence) -> Choice:
    return Choice(
        subject=seen.waiting,
        current=seen.target,
        target=seen.target,
        trail=Target(seen.target).note(code, evidence).trail,
        refused=tuple(refusal for squatter in seen.squatters for refusal in squatter.refused),
        seen=seen,
    )


def rank(squatter: Squatter) -> tuple[bool, int, int, ModelName]:
    """Those who can go, with fewest replicas to move first, then the least important."""
    return (squatter.to is None, squatter.replicas, -squatter.importance, squatter.model)


def _fitting(seen: Squatting, leaving: Sequence[Squatter]) -> int:
    free = dict(seen.free)
    for squatter in leaving:
        for node, devices in squatter.holds.items():
            free[node] = free.get(node, 0) + devices
    return placeable(free, seen.devices)
