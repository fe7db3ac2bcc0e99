"""The report of a run, as scripts read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.domain.priorities import Priority
from controlplane.emulation.load.comparing import compared
from controlplane.emulation.load.figures import by_class, lag_p99
from controlplane.emulation.load.idleness import busy_ratio, idleness
from controlplane.emulation.load.outcomes import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What is needed to judge a run besides its outcomes."""

    limits: Mapping[Priority, float]  # waits that are in time
    seconds: float  # while requests were sent
    token_s: float | None = None
    slots: int | None = None  # of all engines; None: not ours to know


def run_report(outcomes: Sequence[Outcome], judge: Judge) -> dict[str, Any]:
    """Word one target's run; what needs slots and lengths is None where they are not known."""
    idle = busy = None
    if judge.slots is not None and judge.token_s is not None:
        idle = idleness(outcomes, judge.token_s, judge.slots)
        busy = busy_ratio(outcomes, judge.token_s, judge.slots, judge.seconds)
    return {
        "classes": by_class(outcomes, judge.token_s, judge.limits),
        "slots": judge.slots,
        "busy_ratio": None if busy is None else round(busy, 6),
        "refused_while_idle": None if idle is None else idle._asdict(),
        "lag_p99_s": lag_p99(outcomes),
    }


def whole_report(
    head: Mapping[str, Any], runs: Mapping[str, Any], expected: Mapping[str, Any]
) -> dict[str, Any]:
    """Put runs beside what virtual time expects of them, and say what they show."""
    return {**head, "runs": dict(runs), "expected": dict(expected), "compared": compared(runs)}
