"""Who waits where: three lanes a model, like a road."""

from typing import NamedTuple

from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.view import View
from controlplane.http.reads.models import model_rows
from controlplane.http.reads.shapes.models import ModelRow
from controlplane.http.state import State

BEADS = 60  # drawn at most; beyond that a bead stands for several requests


class Beads(NamedTuple):
    """A queue drawn as beads, each for so many requests."""

    drawn: int
    each: int


def beads(waiting: float | None) -> Beads:
    """Draw a queue; one request is always visible."""
    count = round(waiting or 0)
    each = max(1, -(-count // BEADS))
    return Beads(-(-count // each), each)


async def context(state: State, view: View) -> Context:  # noqa: ARG001
    """Gather the lanes, the longest queue first."""
    rows = await model_rows(state)
    return {
        "rows": sorted(rows, key=lambda row: (-waiting(row), row.importance, row.name)),
        "waiting": sum(waiting(row) for row in rows),
        "beads": beads,
    }


def waiting(row: ModelRow) -> float:
    """Count a model's known waiting requests."""
    return sum(of_class.queue.value or 0.0 for of_class in row.classes)


PAGE = Page("/queues", "queues", context)
