"""What if: run policies on a scenario beside the daemon and compare them in one chart."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from aiohttp import web

from controlplane.http.access import Role
from controlplane.http.auth import require
from controlplane.http.forms import form_of
from controlplane.http.pages.labels import Label, place_labels
from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.pictures import nice_ticks
from controlplane.http.pages.view import View
from controlplane.http.problems import ProblemError, bad
from controlplane.http.state import STATE, State
from controlplane.ports import RunProgress

WIDTH, HEIGHT, LEFT, FOOT, RIGHT = 800, 360, 48, 40, 96
UNDER_WAY = ("queued", "running")
MOST_POLICIES = 24
ANSWERED = ("high", "medium", "low")
OURS = "controlplane"
FIRST_SCENARIO = "seed-000"  # chosen in the form until something was run


class Point(NamedTuple):
    """A finished run in the chart."""

    x: float
    y: float
    run: RunProgress
    ours: bool
    label: Label


class Frontier(NamedTuple):
    """GPU-hours against the share of the lowest class in time."""

    points: tuple[Point, ...]
    bound_x: float | None
    x_ticks: tuple[tuple[float, float], ...]
    y_ticks: tuple[tuple[float, float], ...]
    priority: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    floor: int = HEIGHT - FOOT
    right: int = WIDTH - RIGHT


class CourseShown(NamedTuple):
    """The run whose charts are shown, and of which of its models."""

    run: RunProgress
    model: str
    models: tuple[str, ...]


async def context(state: State, view: View) -> Context:
    """Gather what can be run, what runs, and what came out."""
    runs = await state.whatif.runs()
    names = list(dict.fromkeys(run.scenario for run in runs))
    scenario = view.get("scenario") or (names[0] if names else FIRST_SCENARIO)
    of_scenario = [run for run in runs if run.scenario == scenario]
    done = _newest(run for run in of_scenario if run.state == "done" and run.report)
    done = sorted(done, key=_hours)
    return {
        "scenarios": state.scenarios,
        "policies": [name for name in state.policies if name.islower()],
        "forms": [name for name in state.policies if not name.islower()],  # e.g. static:N
        "scenario": scenario,
        "with_runs": names,
        "under_way": [run for run in reversed(runs) if run.state in UNDER_WAY],
        "ended_badly": [run for run in of_scenario if run.state in ("failed", "cancelled")],
        "done": done,
        "frontier": frontier(done) if done else None,
        "in_time": in_time,
        "seeds": {run.seed for run in done},
        "course": await _course(state, view, done),
    }


async def _course(state: State, view: View, done: Sequence[RunProgress]) -> CourseShown | None:
    """Choose the run whose charts are shown: the one asked for, else ours, else the first."""
    asked = [run for run in done if run.id == view.get("run")]
    ours = [run for run in done if run.policy.startswith(OURS)]
    for run in (*asked, *ours, *done):
        models = tuple(await state.whatif.courses(run.id))
        if models:
            wished = view.get("model")
            return CourseShown(run, wished if wished in models else models[0], models)
    return None


async def start(request: web.Request) -> web.Response:
    """Start one run a chosen policy, from the form."""
    require(request, Role.OPERATOR)
    state = request.app[STATE]
    form = await form_of(request)
    scenario = str(form.get("scenario", ""))
    if scenario not in state.scenarios:
        raise bad("scenario", scenario, f"must be one of: {', '.join(sorted(state.scenarios))}")
    written = [str(one) for one in form.getall("policy", [])]
    wished = " ".join((*written, str(form.get("more", "")).replace(",", " "))).split()
    policies = list(dict.fromkeys(wished))
    if not 0 < len(policies) <= MOST_POLICIES:
        raise bad("policy", len(policies), f"must be from 1 to {MOST_POLICIES} policies")
    seed = str(form.get("seed", "1"))
    if not seed.isdecimal() or len(seed) > 9:
        raise bad("seed", seed, "must be a whole number")
    try:
        for policy in policies:
            await state.whatif.start(scenario, policy, int(seed))
    except ValueError as refused:
        raise ProblemError(400, str(refused)) from None
    raise web.HTTPSeeOther(f"/what-if?scenario={scenario}")


async def cancel(request: web.Request) -> web.Response:
    """Stop a run, from its button."""
    require(request, Role.OPERATOR)
    await request.app[STATE].whatif.cancel(request.match_info["run"])
    raise web.HTTPSeeOther("/what-if")


def frontier(done: Sequence[RunProgress]) -> Frontier:
    """Place finished runs: fewer GPU-hours to the left, more in time to the top."""
    priority = lowest_class(done)
    bounds = [run.report["bound_gpu_hours"] for run in done if run.report]
    bound = next((one for one in bounds if one is not None), None)
    hours = [_hours(run) for run in done] + ([bound] if bound is not None else [])
    marks = nice_ticks(max(hours) * 1.02)
    top = marks[-1]
    floor, right = HEIGHT - FOOT, WIDTH - RIGHT

    def place(value: float) -> float:
        return round(LEFT + value / top * (right - LEFT), 1)

    def rise(part: float | None) -> float:
        return round(floor - (part or 0.0) * (floor - 16), 1)

    spots = [(place(_hours(run)), rise(in_time(run, priority)), run) for run in done]
    labels = place_labels([(x, y, run.policy) for x, y, run in spots], WIDTH)
    placed = [
        Point(x, y, run, run.policy.startswith(OURS), label)
        for (x, y, run), label in zip(spots, labels, strict=True)
    ]
    return Frontier(
        tuple(placed),
        None if bound is None else place(bound),
        tuple((place(mark), mark) for mark in marks),
        tuple((rise(part / 4), part / 4) for part in range(5)),
        priority,
    )


def lowest_class(done: Sequence[RunProgress]) -> str:
    """Give the least urgent class that had any requests: the one a policy trades off."""
    for priority in reversed(ANSWERED):
        if any(in_time(run, priority) is not None for run in done):
            return priority
    return ANSWERED[0]


def in_time(run: RunProgress, priority: str) -> float | None:
    """Give the share of a class that was served in time."""
    figures: dict[str, Any] = (run.report or {}).get("classes", {}).get(priority, {})
    share = figures.get("in_time_ratio")
    return float(share) if figures.get("arrived") and share is not None else None


def _hours(run: RunProgress) -> float:
    return float((run.report or {}).get("gpu_hours") or 0.0)


def _newest(runs: Any) -> list[RunProgress]:
    """Keep the newest run of each policy and seed."""
    kept: dict[tuple[str, int], RunProgress] = {}
    for run in runs:
        kept.setdefault((run.policy, run.seed), run)
    return list(kept.values())


def add_routes(app: web.Application) -> None:
    """Add the form's targets."""
    app.router.add_post("/what-if", start)
    app.router.add_post("/what-if/{run}/cancel", cancel)


PAGE = Page("/what-if", "whatif", context)
