"""Routes: pause, pin, isolate and what ends them; each can be looked at first."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from controlplane.clock import wall
from controlplane.domain.load import silent
from controlplane.domain.overrides import FLEET, Isolation, Override
from controlplane.domain.quantities import ModelName
from controlplane.domain.samples import known, number
from controlplane.http.access import Role
from controlplane.http.api.route import Call, Route
from controlplane.http.problems import bad, missing
from controlplane.http.reads.figures import Figure, figure
from controlplane.http.reads.matches import matches
from controlplane.http.state import State

Verb: TypeAlias = Literal["pause", "resume", "pin", "unpin", "isolate", "rejoin"]
MOST = 100_000
LONGEST = 200  # characters of a reason


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wants."""

    verb: Annotated[Verb, Meta(description="What to do.")]
    replicas: Annotated[
        Annotated[int, Meta(ge=0, le=MOST)] | None,
        Meta(description="For pin: the target to hold."),
    ] = None
    reason: Annotated[
        str, Meta(max_length=LONGEST, description="For isolate: why, in your words.")
    ] = ""


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
    refused_per_s: Figure | None = None  # isolate: what arrives now, and would be refused
    guarded: bool = True  # isolate, rejoin: requests come through a door of this daemon


async def _list(call: Call) -> tuple[Override, ...]:
    return tuple((await call.state.overrides.overrides()).values())


async def _preview(call: Call) -> Preview:
    return await plan(call.state, call.part("subject"), call.params, call.caller.name)


async def _put(call: Call) -> Preview:
    wanted: Change = call.body
    call.detail = f"{wanted.verb} {wanted.reason if wanted.replicas is None else wanted.replicas}"
    made = await plan(call.state, call.part("subject"), wanted, call.caller.name)
    held = made.after or Override(subject=made.subject, by=call.caller.name, at=wall())
    await call.state.overrides.put(held)
    call.audited = True  # the store writes pauses and pins down itself, whoever sets them
    for shown in shows(made.subject):
        call.state.shared.forget(shown)
    call.state.wake()
    return made


async def plan(state: State, subject: str, wanted: Change, by: str) -> Preview:
    """Say what a change would do; refuse one that makes no sense."""
    model = state.in_force.catalogue.models.get(ModelName(subject))
    if model is None and subject != FLEET:
        raise missing("model", subject)
    found = (await state.overrides.overrides()).get(subject)
    after = _altered(state, found or Override(subject=subject, by=by, at=wall()), wanted, by)
    standing = state.history.plan.get(ModelName(subject))
    target = standing.replicas if standing else None
    return Preview(
        subject=subject,
        verb=wanted.verb,
        changes=_held(found) != _held(after),
        before=found,
        after=after if after.holds else None,
        models=tuple(state.in_force.catalogue.models) if subject == FLEET else (subject,),
        target=target,
        target_after=target if after.paused else after.pinned,
        micros_per_hour=_cost(state, subject, target, after.pinned),
        refused_per_s=arriving(state, subject) if wanted.verb == "isolate" else None,
        guarded=state.door.guards is not None,
    )


def shows(subject: str) -> tuple[str, ...]:
    """Name what shows an override, and is to be read anew when one was set."""
    return ("fleet", "models", "breakers", f"model:{subject}")


def _altered(state: State, held: Override, wanted: Change, by: str) -> Override:
    """Give what would be set; what the verb is not about stays."""
    now, verb = wall(), wanted.verb
    if wanted.replicas is not None and verb != "pin":
        raise bad("replicas", wanted.replicas, "belongs to pin only")
    if wanted.reason and verb != "isolate":
        raise bad("reason", wanted.reason, "belongs to isolate only")
    changed = ENDS.get(verb, {})
    if verb == "pin":
        changed = {"pinned": _pin(state, held.subject, wanted.replicas)}
    elif verb == "isolate":
        if held.subject == FLEET:
            raise bad("subject", held.subject, "must be one model: nobody isolates a whole fleet")
        changed = {"isolated": Isolation(by=by, at=now, why=wanted.reason.strip())}
    return msgspec.structs.replace(held, **changed, by=by, at=now)


ENDS: Mapping[Verb, Mapping[str, object]] = {
    "pause": {"paused": True},
    "resume": {"paused": False},
    "unpin": {"pinned": None},
    "rejoin": {"isolated": None},
}
"""What a verb sets that needs nothing else."""


def _held(override: Override | None) -> tuple[bool, int | None, bool]:
    """Give what counts as the same: who isolated a model, and why, is no change of it."""
    if override is None:
        return False, None, False
    return override.paused, override.pinned, override.isolated is not None


def arriving(state: State, subject: str) -> Figure:
    """Give how many requests a second arrive for a model, as far as every class is known."""
    load = state.history.loads.get(ModelName(subject)) or silent(ModelName(subject), 0.0)
    now = state.clock.now()
    samples = [of_class.arrivals for of_class in load.classes.values()]
    missing = next((sample for sample in samples if not known(sample)), None)
    if missing is not None:
        return figure(missing, now, unit="/s")
    return Figure(value=sum(number(sample) or 0.0 for sample in samples), unit="/s")


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


def _table(rows: tuple[Override, ...]) -> list[dict[str, object]]:
    """Give the same columns whatever is set."""
    nobody = dict.fromkeys(("isolated_by", "isolated_at", "isolated_why"))
    table = []
    for row in rows:
        plain = msgspec.structs.asdict(row)
        held: Isolation | None = plain.pop("isolated")
        told = {f"isolated_{n}": getattr(held, n) for n in ("by", "at", "why")} if held else nobody
        table.append(plain | told)
    return table


ROUTES = (
    Route(
        method="GET",
        path="/overrides",
        summary="Pauses, pins and isolations in force.",
        run=_list,
        answer=tuple[Override, ...],
        tag="overrides",
        table=_table,
    ),
    Route(
        method="GET",
        path="/overrides/{subject}/preview",
        summary="What a pause, pin, isolation, or its end would do; subject * is every model.",
        run=_preview,
        answer=Preview,
        tag="overrides",
        params=Change,
    ),
    Route(
        method="POST",
        path="/overrides/{subject}",
        summary="Pause, resume, pin, unpin, isolate, rejoin; subject * is every model.",
        run=_put,
        answer=Preview,
        tag="overrides",
        role=Role.OPERATOR,
        body=Change,
        audit="override",
    ),
)
