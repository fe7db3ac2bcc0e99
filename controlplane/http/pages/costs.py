"""What was paid, by day and by whom, shown adding up to the bill."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple, cast, get_args

from controlplane.domain.ledger import LineKind
from controlplane.domain.quantities import MICROS_PER_UNIT, Instant
from controlplane.http.pages.format import day
from controlplane.http.pages.language import translations
from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.pictures import stacked_bars
from controlplane.http.pages.view import View
from controlplane.http.reads.costs import NOBODY, By, CostQuery, costs, day_of
from controlplane.http.reads.shapes.costs import CostLine
from controlplane.http.state import State

DAY_S = 86_400.0
DAYS = {"today": 1, "7d": 7, "30d": 30}
KINDS = tuple(str(kind) for kind in LineKind)


class Span(NamedTuple):
    """The time a report covers; it begins with a day of the bill, which is a day of UTC."""

    start: Instant
    end: Instant


async def context(state: State, view: View) -> Context:
    """Gather the report."""
    reach = view.get("range") if view.get("range") in DAYS else "7d"
    by = cast(By, view.get("by") if view.get("by") in get_args(By) else "team")
    span = covered(state.clock.now(), DAYS[reach])
    found = await costs(
        state,
        CostQuery(
            start=span.start,
            end=span.end,
            by=by,
            team=view.get("team") or None,
            model=view.get("model") or None,
        ),
    )
    shown = {"start": f"{span.start:.0f}", "end": f"{span.end:.0f}"}
    whose = {key: view.get(key) for key in ("team", "model") if view.get(key)}
    used = tuple(kind for kind in KINDS if found.by_kind.get(kind))
    bars = stacked_bars(
        [(day_label(key, view.language), parts) for key, parts in every_day(span, found.days)],
        used,
    )
    return {
        "costs": found,
        "lines": sorted(found.lines, key=lambda line: line.key == NOBODY),
        "kinds": used,
        "bars": bars,
        "tick_digits": 0 if all(float(mark).is_integer() for _, mark in bars.ticks) else 2,
        "nobody": NOBODY,
        "reach": reach,
        "by": by,
        "span": shown,  # so that the raw figures are those of the page
        "asked": {"by": by, **shown, **whose},
        "ranges": _ranges(view.language),
        "sides": _sides(view.language),
        "last": span.end - 1,
    }


def covered(now: Instant, days: int) -> Span:
    """Give whole days of the bill up to the coming hour, so that equal looks share a result."""
    end = now - now % 3600 + 3600
    return Span(now - now % DAY_S - (days - 1) * DAY_S, end)


def every_day(span: Span, days: Iterable[CostLine]) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Give each day of the span its parts in whole units; a day without rows has none."""
    billed = {line.key: line.by_kind for line in days}
    at = span.start
    while at < span.end:
        parts = billed.get(key := day_of(at), {})
        yield key, {kind: micros / MICROS_PER_UNIT for kind, micros in parts.items()}
        at += DAY_S


def day_label(key: str, language: str) -> str:
    """Give the day as it stands under its bar."""
    at = datetime.fromisoformat(f"{key}T12:00:00+00:00").timestamp()
    return day(at, UTC, language)


def _ranges(language: str) -> tuple[tuple[str, str], ...]:
    _ = translations(language).gettext
    return (("today", _("Today")), ("7d", _("7 days")), ("30d", _("30 days")))


def _sides(language: str) -> tuple[tuple[str, str], ...]:
    _ = translations(language).gettext
    return (
        ("team", _("Team")),
        ("model", _("Model")),
        ("node_class", _("Node class")),
        ("kind", _("Kind")),
        ("day", _("Day")),
    )


PAGE = Page("/costs", "costs", context)
