"""Routes: what-if runs beside the daemon."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from controlplane.domain.quantities import ModelName
from controlplane.http.access import Role
from controlplane.http.api.route import Call, Route
from controlplane.http.problems import ProblemError, bad, missing
from controlplane.ports import RunCourse, RunProgress


class NewRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run to be started."""

    scenario: Annotated[str, Meta(min_length=1, max_length=200, description="Its name.")]
    policy: Annotated[
        str, Meta(min_length=1, max_length=200, description="A policy, e.g. hpa:0.7 or static:6.")
    ]
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1, description="Same seed, same report.")] = 1


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What can be run."""

    scenarios: dict[str, str]  # name -> one line about it
    policies: tuple[str, ...]


async def _offer(call: Call) -> Offer:
    return Offer(scenarios=dict(call.state.scenarios), policies=call.state.policies)


async def _runs(call: Call) -> tuple[RunProgress, ...]:
    return tuple(await call.state.whatif.runs())


async def _run(call: Call) -> RunProgress:
    name = call.part("id")
    for run in await call.state.whatif.runs():
        if run.id == name:
            return run
    raise missing("run", name)


async def _courses(call: Call) -> Mapping[ModelName, RunCourse]:
    run = await _run(call)
    return await call.state.whatif.courses(run.id)


def _course_table(found: Mapping[ModelName, RunCourse]) -> Iterable[dict[str, Any]]:
    """Give one row per model and moment."""
    for model, course in found.items():
        for index, at in enumerate(course.at):
            row: dict[str, Any] = {"model": model, "at": at, "target": course.target[index]}
            row["drain_s"] = course.drain_s[index]
            for name in ("arrivals", "queue", "wait_p99", "lanes"):
                lines = getattr(course, name)
                row |= {f"{name}_{key}": values[index] for key, values in lines.items()}
            yield row


async def _start(call: Call) -> RunProgress:
    wanted: NewRun = call.body
    call.subject = f"{wanted.scenario} {wanted.policy} {wanted.seed}"
    if wanted.scenario not in call.state.scenarios:
        known = ", ".join(sorted(call.state.scenarios)) or "none"
        raise bad("scenario", wanted.scenario, f"must be one of: {known}")
    try:
        return await call.state.whatif.start(wanted.scenario, wanted.policy, wanted.seed)
    except ValueError as refused:
        raise ProblemError(400, str(refused)) from None


async def _cancel(call: Call) -> RunProgress:
    run = await _run(call)
    if run.state in {"done", "failed", "cancelled"}:
        raise ProblemError(409, f"state: {run.state!r} must be queued or running to be cancelled")
    await call.state.whatif.cancel(run.id)
    return await _run(call)


def _table(runs: Iterable[RunProgress]) -> Iterable[dict[str, Any]]:
    for run in runs:
        yield msgspec.structs.asdict(run)


ROUTES = (
    Route(
        method="GET",
        path="/scenarios",
        summary="Scenarios and policies a run can be made of.",
        run=_offer,
        answer=Offer,
        tag="what-if",
    ),
    Route(
        method="GET",
        path="/runs",
        summary="What-if runs, newest first, with their reports.",
        run=_runs,
        answer=tuple[RunProgress, ...],
        tag="what-if",
        table=_table,
    ),
    Route(
        method="GET",
        path="/runs/{id}",
        summary="One run: how far it is, and its report when it is done.",
        run=_run,
        answer=RunProgress,
        tag="what-if",
    ),
    Route(
        method="GET",
        path="/runs/{id}/courses",
        summary="How a finished run went, by model, in seconds since its start; null is a gap.",
        run=_courses,
        answer=dict[ModelName, RunCourse],
        tag="what-if",
        table=_course_table,
    ),
    Route(
        method="POST",
        path="/runs",
        summary="Start a run.",
        run=_start,
        answer=RunProgress,
        tag="what-if",
        role=Role.OPERATOR,
        body=NewRun,
        status=202,
        audit="start run",
    ),
    Route(
        method="POST",
        path="/runs/{id}/cancel",
        summary="Stop a run; a finished one stays as it is.",
        run=_cancel,
        answer=RunProgress,
        tag="what-if",
        role=Role.OPERATOR,
        audit="cancel run",
        faults=(409,),
    ),
)
