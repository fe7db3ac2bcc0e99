"""Who waits where: three lanes a model, like a road, with what became of those who came."""

from collections.abc import Sequence
from typing import NamedTuple

from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.sorting import ordered
from controlplane.http.pages.view import View
from controlplane.http.reads.figures import Figure
from controlplane.http.reads.models import model_rows
from controlplane.http.reads.queues import NOT_COUNTED, queue_rows
from controlplane.http.reads.shapes.models import ModelRow
from controlplane.http.reads.shapes.queues import QueueRow
from controlplane.http.state import State

BEADS = 40  # drawn at most; beyond that a bead stands for several requests
SHOWN = 100  # models a page


class Beads(NamedTuple):
    """A queue drawn as beads, each for so many requests."""

    drawn: int
    each: int


class Road(NamedTuple):
    """A model's lanes."""

    model: ModelRow
    lanes: Sequence[QueueRow]
    service_s: float | None = None  # mean time of a request, as measured

    def sum(self, name: str) -> float | None:
        """Add one figure up over the lanes; None where one of them is not known."""
        values = [getattr(lane, name).value for lane in self.lanes]
        return None if None in values else sum(values)

    @property
    def drain(self) -> Figure:
        """Say how long who waits now will take; the loop's figure is as old as its last look."""
        waiting, slots = self.sum("waiting"), self.lanes[0].slots if self.lanes else None
        if waiting is None or not slots or self.service_s is None:
            return self.model.drain
        drain_s = waiting * self.service_s / slots
        return Figure(value=drain_s, limit=self.model.drain.limit, unit="s")

    @property
    def longest(self) -> float | None:
        """The longest wait of any class."""
        return max((x for lane in self.lanes if (x := lane.longest_wait.value)), default=None)


def beads(waiting: float | None) -> Beads:
    """Draw a queue; one request is always visible."""
    count = round(waiting or 0)
    each = max(1, -(-count // BEADS))
    return Beads(-(-count // each), each)


COLUMNS = {
    "name": lambda road: road.model.name,
    "waiting": lambda road: road.sum("waiting"),
    "longest": lambda road: road.longest,
    "flight": lambda road: road.sum("in_flight"),
    "admitted": lambda road: road.sum("admitted"),
    "refused": lambda road: road.sum("refused"),
    "aged": lambda road: road.sum("aged"),
}


async def context(state: State, view: View) -> Context:
    """Gather the lanes, the longest queue first."""
    rows, models = await queue_rows(state), await model_rows(state)
    lanes: dict[str, list[QueueRow]] = {}
    for row in rows:
        lanes.setdefault(row.model, []).append(row)
    every = [
        Road(model, lanes.get(model.name, ()), _service_s(state, model.name)) for model in models
    ]
    every.sort(key=lambda road: -sum(lane.waiting.value or 0.0 for lane in road.lanes))
    roads = ordered((road for road in every if _wanted(road, view)), view.get("sort"), COLUMNS)
    number = view.get("page")
    first = (int(number) - 1) * SHOWN if number.isdecimal() and 0 < len(number) < 7 else 0
    return {
        "roads": roads[max(first, 0) :][:SHOWN],
        "number": max(first, 0) // SHOWN + 1,
        "numbers": -(-len(roads) // SHOWN),
        "teams": sorted({model.team for model in models}),
        "waiting": sum(row.waiting.value or 0.0 for row in rows),
        "worst": _worst(rows),
        "longest": max((row.longest_wait.value or 0.0 for row in rows), default=0.0),
        "totals": {name: _total(rows, name) for name in ("admitted", "refused", "aged")},
        "lately_s": max((row.lately_s or 0.0 for row in rows), default=0.0),
        "since": min((row.counted_since for row in rows if row.counted_since), default=None),
        "uncounted": _uncounted(rows),
        "beads": beads,
        "by_count": by_count,
        "tenant_counts": lambda tenants: [f"{name} {count}" for name, count in tenants.items()],
    }


def _service_s(state: State, model: str) -> float | None:
    load = state.history.loads.get(ModelName(model))
    return None if load is None else load.service_s.x


def _wanted(road: Road, view: View) -> bool:
    sought = view.get("q").strip().lower()
    return (
        (not sought or sought in road.model.name.lower() or sought in road.model.team.lower())
        and view.get("team") in ("", road.model.team)
        and (not view.get("waiting") or any(lane.waiting.value for lane in road.lanes))
    )


def _worst(rows: Sequence[QueueRow]) -> QueueRow | None:
    """Find who has waited longest against what was promised; without a promise, longest."""
    waiting = [row for row in rows if row.longest_wait.value]
    promised = [row for row in waiting if row.longest_wait.limit]
    return max(
        promised or waiting,
        key=lambda row: (row.longest_wait.value or 0.0) / (row.longest_wait.limit or 1.0),
        default=None,
    )


def _total(rows: Sequence[QueueRow], name: str) -> Figure:
    """Add up what is known; one class that is not known leaves the sum unknown."""
    figures: list[Figure] = [getattr(row, name) for row in rows]
    missing = next((figure for figure in figures if figure.value is None), None)
    if missing is not None:
        return missing
    return Figure(value=sum(figure.value or 0.0 for figure in figures), unit=figures[0].unit)


def _uncounted(rows: Sequence[QueueRow]) -> str:
    """Say why nobody counts, where nobody does."""
    whys = {row.in_flight.why for row in rows}
    known = {NOT_COUNTED, "Unreachable"}
    return next((why for why in whys if why in known), "") or ""


def by_count(refused: dict[ReasonCode, int]) -> list[tuple[ReasonCode, int]]:
    """List refusals, the most frequent reason first."""
    return sorted(refused.items(), key=lambda item: (-item[1], item[0]))


PAGE = Page("/queues", "queues", context)
