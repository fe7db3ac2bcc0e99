"""Choices and ledger rows to be stored: one line per object, only what matters in a test."""

from typing import Any

import msgspec

from controlplane.domain.actions import Action, SetTarget
from controlplane.domain.decisions import Choice, Target
from controlplane.domain.ledger import LedgerRow, LineKind
from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ClassName, Micros, ModelName, NodeName, Zone
from controlplane.domain.reasons import Evidence, ReasonCode, Refusal
from controlplane.domain.samples import IDLE, Absence, Bad, NoData, Stale, Value, Zero

T0 = 1_800_000_000.0
A100 = ClassName("A100-80G")


class Look(msgspec.Struct, frozen=True):
    """What a loop saw: any frozen Struct, with every kind of sample in it."""

    load: ModelLoad
    target: int


def a_look(subject: str = "chat", target: int = 4) -> Look:
    load = ClassLoad(
        queue=Value(1.5, T0),
        arrivals=Zero(T0),
        arrivals_steady=IDLE,
        turned_away=NoData(Absence.EMPTY, "x"),
        wait_p99=Stale(3.5),
        latency_p99=Bad("'NaN'"),
    )
    return Look(ModelLoad(model=ModelName(subject), at=T0, classes={Priority.HIGH: load}), target)


def a_hold(
    subject: str = "chat", at: int = 4, code: ReasonCode = ReasonCode.DRAIN_WITHIN
) -> Choice:
    """A choice that leaves the target where it is and does nothing."""
    trail = Target(at).note(code, Evidence("drain", 2.5, 30.0, "s")).trail
    return Choice(subject=subject, current=at, target=at, trail=trail, seen=a_look(subject, at))


def a_raise(
    subject: str = "chat",
    current: int = 4,
    target: int = 5,
    code: ReasonCode = ReasonCode.DRAIN_TOO_SLOW,
    **more: Any,
) -> Choice:
    """A choice that moves the target and puts it in force."""
    trail = Target(current).move(target, code, Evidence("drain", 41.0, 30.0, "s")).trail
    given: dict[str, Any] = {
        "subject": subject,
        "current": current,
        "target": target,
        "trail": trail,
        "refused": (Refusal("T4", ReasonCode.TOO_SMALL, (Evidence("memory", 140, 64, "GiB"),)),),
        "actions": (a_target(subject, target),),
        "seen": a_look(subject, current),
    }
    return Choice(**{**given, **more})


def a_target(subject: str = "chat", replicas: int = 5) -> Action:
    return SetTarget(ModelName(subject), replicas, {A100: replicas})


def a_line(
    start: float = T0,
    kind: LineKind = LineKind.SERVING,
    model: str | None = "chat",
    *,
    device: int = 0,
    micros: int = 50_000,
    lasts: float = 60.0,
) -> LedgerRow:
    """One device for one minute."""
    return LedgerRow(
        start=start,
        end=start + lasts,
        node=NodeName("a100-01"),
        device=device,
        node_class=A100,
        zone=Zone("zone-a"),
        kind=kind,
        model=None if model is None else ModelName(model),
        micros=Micros(micros),
        price_micros_per_hour=Micros(3_000_000),
    )
