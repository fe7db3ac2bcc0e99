"""The breakers as people read them: where each stands, what was counted, what comes next."""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from controlplane.decide.breakers.breaker import CLOSED, Breaker, open_for
from controlplane.decide.breakers.breaker import State as Stands
from controlplane.decide.breakers.ejections import ejection_s, ejections, flaps
from controlplane.domain.catalogue import Model
from controlplane.domain.overrides import Isolation, isolated
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.samples import Absence
from controlplane.http.reads.catalogue import diff_lines
from controlplane.http.reads.figures import Figure, unknown
from controlplane.http.reads.lines import decision_line
from controlplane.http.reads.queues import NOT_COUNTED
from controlplane.http.reads.shapes.breakers import BreakerRow, BreakerSettings, ClusterRow
from controlplane.http.reads.shapes.decisions import DecisionLine
from controlplane.http.state import State
from controlplane.ports import BreakersView, DecisionQuery, UnavailableError

LOOP = "breakers"
NEWEST = 500  # changes read for the last of each model
BY_HAND_ALONE = "ByHandAlone"
NOT_NOW = "NotNow"
NO_BALANCER = "NoBalancer"
MODELS_AT_ONCE = 50  # then others get their turn


class Told(NamedTuple):
    """What the door says, or why it does not."""

    view: BreakersView | None
    why: str | None
    ejected: Mapping[ModelName, int] | None = None


async def breaker_rows(state: State) -> tuple[BreakerRow, ...]:
    """Give every catalogued model's breaker, the most important model first."""
    return await state.shared.once("breakers", 0.8, lambda: _rows(state))


async def breaker_row(state: State, name: str) -> BreakerRow | None:
    """Give one model's breaker; None where the model is not catalogued."""
    return next((row for row in await breaker_rows(state) if row.model == name), None)


async def breaker_settings(state: State, name: str) -> BreakerSettings | None:
    """Give the balancer's settings for a model; None where the model is not catalogued."""
    if name not in state.in_force.catalogue.models:
        return None
    try:
        found = await state.door.settings(ModelName(name))
    except UnavailableError:
        return BreakerSettings(model=name, clusters=(), why=str(Absence.UNREACHABLE))
    clusters = [
        ClusterRow(
            name=one.name,
            rendered=one.rendered,
            live=one.live,
            lines=() if one.live is None else diff_lines(one.live, one.rendered),
        )
        for one in found or ()
    ]
    why = NO_BALANCER if found is None else None
    return BreakerSettings(model=name, clusters=tuple(clusters), why=why)


async def _rows(state: State) -> tuple[BreakerRow, ...]:
    told = await _told(state)
    if told.view is not None:
        told = told._replace(ejected=await state.door.ejected())
    out = isolated(await state.overrides.overrides())
    last = await _last_changes(state)
    serving = _serving(state)
    models = sorted(
        state.in_force.catalogue.models.items(), key=lambda item: (item[1].importance, item[0])
    )
    rows: list[BreakerRow] = []
    for number, (name, model) in enumerate(models, 1):
        bare = _policy(name, model, serving.get(name), told)
        rows.append(_standing(bare, model, told, out.get(name), last.get(name)))
        if number % MODELS_AT_ONCE == 0:
            await asyncio.sleep(0)
    return tuple(rows)


async def open_since(state: State) -> Mapping[ModelName, Instant]:
    """Give the models whose breakers failures opened, and since when; none where nobody tells."""
    view = (await _told(state)).view
    states = {} if view is None else view.states
    failing = (Stands.OPEN, Stands.HALF_OPEN)
    return {name: breaker.since for name, breaker in states.items() if breaker.state in failing}


async def _told(state: State) -> Told:
    try:
        view = await state.door.breakers()
    except UnavailableError:
        return Told(None, str(Absence.UNREACHABLE))
    return Told(view, NOT_COUNTED if view is None else None)


async def _last_changes(state: State) -> Mapping[str, DecisionLine]:
    newest: dict[str, DecisionLine] = {}
    for row in await state.decisions.decisions(DecisionQuery(loop=LOOP, limit=NEWEST)):
        newest.setdefault(row.subject, decision_line(row))
    return newest


def _serving(state: State) -> Mapping[ModelName, int]:
    """Count the replicas that are balanced over; nothing where the cluster was not seen yet."""
    counts: dict[ModelName, int] = {}
    for replica in state.history.view.replicas if state.history.view else ():
        counts[replica.model] = counts.get(replica.model, 0) + replica.serving
    return counts


def _policy(name: ModelName, model: Model, serving: int | None, told: Told) -> BreakerRow:
    """Give what is set, and what nobody needs to count."""
    policy = model.policy.breaker
    recovery_s = max(variant.load_s for variant in model.variants.values())
    single = policy.replica_failures is not None
    return BreakerRow(
        model=name,
        team=model.team,
        importance=model.importance,
        state=None,
        why=told.why,
        failures=unknown(told.why or "", limit=policy.failures),
        ejected=_ejected(name, serving if single else 0, told),
        ejection_s=ejection_s(policy, recovery_s) if single else None,
        recovery_s=recovery_s,
        flaps=flaps(policy, recovery_s),
    )


def _ejected(name: ModelName, serving: int | None, told: Told) -> Figure:
    most = None if serving is None else ejections(serving)
    if told.view is None or told.ejected is None:
        why = told.why or (NOT_COUNTED if told.view and told.view.counts else BY_HAND_ALONE)
        return unknown(why, limit=most)
    return Figure(value=float(told.ejected.get(name, 0)), limit=most)


def _standing(
    bare: BreakerRow,
    model: Model,
    told: Told,
    isolation: Isolation | None,
    last: DecisionLine | None,
) -> BreakerRow:
    """Add where it stands; what a person isolated is isolated, also where no door tells."""
    policy = model.policy.breaker
    breaker: Breaker | None = None
    if told.view is not None:
        breaker = told.view.states.get(ModelName(bare.model), CLOSED)
    more: dict[str, object] = {"last": last}
    if isolation is not None:
        more |= {
            "isolated_by": isolation.by,
            "isolated_at": isolation.at,
            "isolated_why": isolation.why,
        }
    if told.view is not None and breaker is not None:
        waits = breaker.state in (Stands.OPEN, Stands.HALF_OPEN)
        more |= {
            "state": str(breaker.state),
            "since": breaker.since or None,
            "failures": _failures(breaker, policy, counts=told.view.counts),
            "opened": breaker.opened,
            "probe_at": breaker.until if waits else None,
            "next_open_s": open_for(breaker.opened + 1, policy) if policy.failures else None,
        }
    return msgspec.structs.replace(bare, **more)


def _failures(breaker: Breaker, policy: BreakerPolicy, *, counts: bool) -> Figure:
    if not counts:
        return unknown(BY_HAND_ALONE, limit=policy.failures)
    if not breaker.passing:
        return unknown(NOT_NOW, limit=policy.failures)
    return Figure(value=float(breaker.failures), limit=policy.failures)
