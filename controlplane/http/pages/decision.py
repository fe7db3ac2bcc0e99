"""One decision: the ladder from what was to what is wanted, what was done, and the proof."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from controlplane.domain.overrides import paused
from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import Evidence, Reason
from controlplane.http.pages.page import Context, Page, last_segment
from controlplane.http.pages.rendering import RENDERER, answer
from controlplane.http.pages.view import View, view_of
from controlplane.http.pages.words import Words
from controlplane.http.problems import bad, missing
from controlplane.http.reads.decisions import decision_detail
from controlplane.http.reads.shapes.decisions import DecisionDetail, Rung
from controlplane.http.state import STATE, State
from controlplane.render.sentences import pair, sentence, title, unit_of

METERED = frozenset({"s", "share", "/s", "GiB"})
LONGEST = 18


class Measure(NamedTuple):
    """A value beside its limit, as figures and as they are written."""

    name: str
    value: float
    limit: float
    written: str
    written_limit: str


class Step(NamedTuple):
    """A rung as it is drawn: what was measured, and what else was seen."""

    rung: Rung
    measures: tuple[Measure, ...]
    besides: tuple[Evidence, ...]


async def context(state: State, view: View) -> Context:
    """Gather the page."""
    return await gather(state, last_segment(view), view)


async def gather(state: State, number: str, view: View) -> Context:
    """Gather one decision, by its number as it stands in the address."""
    if not number.isdecimal() or len(number) > LONGEST:
        raise bad("decision", number, "must be a whole number")
    found = await decision_detail(state, int(number))
    if found is None:
        raise missing("decision", number)
    pause = paused(await state.overrides.overrides(), ModelName(found.line.subject))
    return {
        "decision": found,
        "paused_by": pause.by if pause else None,
        "line": found.line,
        "steps": tuple(_steps(found.rungs)),
        "held_at": found.line.current == found.line.target,
        "text": as_text(found, view.language),
        "input": pretty(found.seen),
    }


async def trail(request: web.Request) -> web.Response:
    """Answer with the ladder alone, to be shown beside the charts."""
    state, view = request.app[STATE], view_of(request)
    gathered = await gather(state, request.match_info["number"], view)
    return answer(await request.app[RENDERER].html(state, "parts/trail.html", view, gathered))


def _steps(rungs: Iterable[Rung]) -> Iterable[Step]:
    for rung in rungs:
        measured = tuple(filter(None, (_measure(one) for one in rung.evidence)))
        names = {measure.name for measure in measured}
        besides = tuple(one for one in rung.evidence if one.name not in names)
        yield Step(rung, measured, besides)


def _measure(one: Evidence) -> Measure | None:
    """Give a meter for what has a limit in the same unit; counts of replicas have none."""
    value, limit = one.value, one.limit
    if not isinstance(value, int | float) or not isinstance(limit, int | float):
        return None
    if unit_of(one) not in METERED or not limit:
        return None
    return Measure(one.name, float(value), float(limit), *pair(one))


def as_text(found: DecisionDetail, language: str) -> str:
    """Write the whole decision as plain text, to be pasted into a ticket."""
    line, words = found.line, Words(language)
    rows = [words.headline(line), ""]
    rows += [
        f"{rung.before:>4} → {rung.after:<4} {title(rung.code, language)} ({rung.code}): "
        + sentence(Reason(rung.code, rung.before, rung.after, rung.evidence), language)
        for rung in found.rungs
    ]
    rows += [
        f"     ✗ {one.option}: {title(one.code, language)} ({one.code})" for one in found.refused
    ]
    rows += ["", f"#{line.id} · {line.loop} · catalogue v{found.catalogue_version} · {found.world}"]
    return "\n".join(rows)


def pretty(seen: Any) -> str:
    """Write the stored input for people."""
    return msgspec.json.format(msgspec.json.encode(seen), indent=2).decode()


PAGE = Page("/decisions/{id}", "decision", context, "decisions")
