"""A stored decision as a line of a list."""

from controlplane.domain.reasons import Reason
from controlplane.http.reads.shapes.decisions import DecisionLine
from controlplane.ports import DecisionRow


def decision_line(row: DecisionRow) -> DecisionLine:
    """Give the line of a row, with the reason that decided."""
    return DecisionLine(
        id=row.id,
        at=row.at,
        loop=row.loop,
        subject=row.subject,
        current=row.current,
        target=row.target,
        reason=decisive_reason(row),
        trail=row.trail,
        repeats=row.repeats,
        last_at=row.last_at,
        ending=str(row.ending),
        note=row.note,
    )


def decisive_reason(row: DecisionRow) -> Reason:
    """Give the last reason of the decisive code; one without evidence if the trail lacks it."""
    for reason in reversed(row.trail):
        if reason.code == row.decisive:
            return reason
    return Reason(row.decisive, row.current, row.target)
