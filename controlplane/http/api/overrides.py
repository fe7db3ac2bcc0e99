"""Routes: pause, resume, pin and unpin, for one model or all; each can be looked at first."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from controlplane.clock import wall
from controlplane.domain.overrides import FLEET, Override
from controlplane.domain.quantities import ModelName
from controlplane.http.access import Role
from controlplane.http.api.route import Call, Route
from controlplane.http.problems import bad, missing
from controlplane.http.reads.matches import matches
from controlplane.http.state import State

Verb: TypeAlias = Literal["pause", "resume", "pin", "unpin"]
MOST = 100_000


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wants."""

    verb: Annotated[Verb, Meta(description="What to do.")]
    replicas: Annotated[
        Annotated[int, Meta(ge=0, le=MOST)] | None,
        Meta(description="For pin: the target to hold."),
    ] = None


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a change would do, or did."""

    subject: str
    verb: Verb
    changes: bool  # False: it is so already
    before: Override | None
    after: Override | None
    models: tuple[str, ...]  # whom it touches
    target: int | None  # now; None for the whole fleet, or where nothing was decided yet
    target_after: int | None  # None: the rules decide
    micros_per_hour: int | None  # what it adds to the cost, on the cheapest class that fits


async def _list(call: Call) -> tuple[Override, ...]:
    return tuple((await call.state.overrides.overrides()).values())


async def _preview(call: Call) -> Preview:
    return await plan(call.state, call.part("subject"), call.params, call.caller.name)


async def _put(call: Call) -> Preview:
    wanted: Change = call.body
    call.detail = wanted.verb if wanted.replicas is None else f"{wanted.verb} {wanted.replicas}"
    made = await plan(call.state, call.part("subject"), wanted, call.caller.name)
    held = made.after or Override(subject=made.subject, by=call.caller.name, at=wall())
    await call.state.overrides.put(held)
    call.audited = True  # the store writes pauses and pins down itself, whoever sets them
    for shown in ("fleet", "models", f"model:{made.subject}"):
        call.state.shared.forget(shown)
    call.state.wake()
    return made


async def plan(state: State, subject: str, wanted: Change, by: str) -> Preview:
    """Say what a change would do; refuse one that makes no sense."""
    model = state.in_force.catalogue.models.get(ModelName(subject))
    if model is None and subject != FLEET:
        raise missing("model", subject)
    before = (await state.overrides.overrides()).get(subject)
    paused = before is not None and before.paused
    pinned = before.pinned if before is not None else None
    if wanted.verb == "pin":
        pinned = _pin(state, subject, wanted.replicas)
    elif wanted.replicas is not None:
        raise bad("replicas", wanted.replicas, "belongs to pin only")
    elif wanted.verb == "unpin":
        pinned = None
    else:
        paused = wanted.verb == "pause"
    after = Override(subject=subject, paused=paused, pinned=pinned, by=by, at=wall())
    standing = state.history.plan.get(ModelName(subject))
    target = standing.replicas if standing else None
    return Preview(
        subject=subject,
        verb=wanted.verb,
        changes=(paused, pinned) != _held(before),
        before=before,
        after=after if paused or pinned is not None else None,
        models=tuple(state.in_force.catalogue.models) if subject == FLEET else (subject,),
        target=target,
        target_after=target if paused else pinned,
        micros_per_hour=_cost(state, subject, target, pinned),
    )


def _held(override: Override | None) -> tuple[bool, int | None]:
    return (override.paused, override.pinned) if override is not None else (False, None)


def _pin(state: State, subject: str, replicas: int | None) -> int:
    if subject == FLEET:
        raise bad("subject", subject, "must be one model: a fleet has no single target")
    if replicas is None:
        raise bad("replicas", "", "must be given to pin")
    scaling = state.in_force.catalogue.models[ModelName(subject)].policy.scaling
    if not scaling.min <= replicas <= scaling.max:
        raise bad("replicas", replicas, f"must be from {scaling.min} to {scaling.max}")
    return replicas


def _cost(state: State, subject: str, target: int | None, pinned: int | None) -> int | None:
    prices = [price for (of, _), price in matches(state).hourly.items() if of == subject]
    if target is None or pinned is None or not prices:
        return None
    return (pinned - target) * min(prices)


ROUTES = (
    Route(
        method="GET",
        path="/overrides",
        summary="Pauses and pins in force.",
        run=_list,
        answer=tuple[Override, ...],
        tag="overrides",
        table=lambda rows: rows,
    ),
    Route(
        method="GET",
        path="/overrides/{subject}/preview",
        summary="What a pause, resume, pin or unpin would do; subject * is every model.",
        run=_preview,
        answer=Preview,
        tag="overrides",
        params=Change,
    ),
    Route(
        method="POST",
        path="/overrides/{subject}",
        summary="Pause, resume, pin or unpin; subject * is every model.",
        run=_put,
        answer=Preview,
        tag="overrides",
        role=Role.OPERATOR,
        body=Change,
        audit="override",
    ),
)
