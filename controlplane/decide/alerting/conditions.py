"""The conditions, looked at anew in every cycle: what holds long enough becomes an alert.

Nothing is remembered but since when a condition holds. It ends as soon as it is not so; the
limits in time are what keeps flapping away from people.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from controlplane.domain.alerts import Alert, AlertName, Key
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Plan
from controlplane.domain.fleet import FleetView, replicas_by_model
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import (
    MICROS_PER_UNIT,
    ClassName,
    Instant,
    Micros,
    ModelName,
    micros,
)
from controlplane.domain.samples import Absence, Bad, NoData, Sample, Stale

NEEDED = ("queue", "arrivals")  # without these nothing is decided downwards
FINE = (Absence.IDLE, Absence.NOT_EXPORTED)


class AlertsSeen(msgspec.Struct, frozen=True, kw_only=True):
    """What the conditions depend on; what a daemon does not have stays empty."""

    at: Instant
    view: FleetView
    loads: Mapping[ModelName, ModelLoad]
    plan: Plan = {}
    short: Mapping[ModelName, Mapping[ClassName, Instant]] = {}  # left alone until
    breakers: Mapping[ModelName, str] = {}  # those that are open, and why
    spent: Mapping[ModelName, Micros] = {}  # today


class Condition(NamedTuple):
    """Something that is so now, and how long it must be so."""

    key: Key
    after_s: float
    summary: str
    severity: str = "warning"


Since = Mapping[Key, Instant]
Rule = Callable[[AlertsSeen, Catalogue], Iterator[Condition]]


def alerts(seen: AlertsSeen, catalogue: Catalogue, since: Since) -> tuple[tuple[Alert, ...], Since]:
    """Give what is to be told now, and since when each condition holds."""
    holding = {c.key: c for rule in RULES for c in rule(seen, catalogue)}
    began = {key: since.get(key, seen.at) for key in holding}
    told = [
        Alert(key=key, since=began[key], summary=of.summary, severity=of.severity)
        for key, of in sorted(holding.items())
        if seen.at - began[key] >= of.after_s
    ]
    return tuple(told), began


def _no_data(seen: AlertsSeen, catalogue: Catalogue) -> Iterator[Condition]:
    after = catalogue.alerts.no_data_s
    for name in catalogue.models:
        load = seen.loads.get(name)
        classes = load.classes.values() if load is not None else ()
        missing = [
            (signal, why)
            for of_class in classes
            for signal in NEEDED
            if (why := reason(getattr(of_class, signal)))
        ]
        if not classes:
            missing = [("load", "no source knows it")]
        if missing:
            signal, why = missing[0]
            yield Condition(
                Key(AlertName.NO_DATA, name),
                after,
                f"the {signal} of {name} is not known: {why}; it is not scaled down meanwhile",
            )


def _class_short(seen: AlertsSeen, catalogue: Catalogue) -> Iterator[Condition]:
    for name, classes in seen.short.items():
        for node_class, until in classes.items():
            if until > seen.at:
                yield Condition(
                    Key(AlertName.CLASS_SHORT, name, node_class),
                    catalogue.alerts.after_s,
                    f"{node_class} is short: replicas of {name} stayed unschedulable there",
                )


def _not_reached(seen: AlertsSeen, catalogue: Catalogue) -> Iterator[Condition]:
    by_model = replicas_by_model(seen.view.replicas)
    for name, standing in seen.plan.items():
        model = catalogue.models.get(name)
        serving = sum(1 for r in by_model.get(name, ()) if r.serving)
        if model is not None and serving < standing.replicas:
            yield Condition(
                Key(AlertName.TARGET_UNREACHABLE, name),
                max(catalogue.alerts.after_s, model.policy.spare.load_limit_s),
                f"{name} has {serving} of {standing.replicas} replicas in service, though one "
                f"loads within {model.policy.spare.load_limit_s:g} s",
                "critical" if serving == 0 else "warning",
            )


def _breaker_open(seen: AlertsSeen, catalogue: Catalogue) -> Iterator[Condition]:
    for name, why in seen.breakers.items():
        yield Condition(
            Key(AlertName.BREAKER_OPEN, name),
            catalogue.alerts.after_s,
            f"the breaker of {name} is open: {why}",
            "critical",
        )


def _over_budget(seen: AlertsSeen, catalogue: Catalogue) -> Iterator[Condition]:
    for name, spent in seen.spent.items():
        model = catalogue.models.get(name)
        budget = None if model is None else model.budget_per_day
        if budget is not None and spent > micros(budget):
            amount = f"{spent / MICROS_PER_UNIT:.2f} {catalogue.currency}"
            yield Condition(
                Key(AlertName.OVER_BUDGET, name),
                0.0,
                f"{name} cost {amount} today, and its budget is {budget} a day",
            )


RULES: tuple[Rule, ...] = (_no_data, _class_short, _not_reached, _breaker_open, _over_budget)


def reason(sample: Sample) -> str:
    """Say why a sample is missing; empty where it is known, or need not be."""
    match sample:
        case NoData(why=why) if why in FINE:
            return ""
        case NoData(why=why, note=note):
            return f"{why}: {note}" if note else str(why)
        case Stale(age_s=age):
            return f"the last is {age:.0f} s old"
        case Bad(raw=raw):
            return f"what came is no number: {raw}"
    return ""
