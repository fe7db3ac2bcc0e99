"""Where models can run, matched once per catalogue and kept."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from controlplane.decide.placement.matching import Match, match
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.quantities import ClassName, Micros, ModelName, micros
from controlplane.http.reads.shapes.models import MatchRow
from controlplane.http.state import State


class Matches(NamedTuple):
    """Every model's verdicts, and what one replica holds and costs where it fits."""

    verdicts: Mapping[ModelName, Sequence[Match]]
    devices: Mapping[tuple[ModelName, ClassName], int]
    hourly: Mapping[tuple[ModelName, ClassName], Micros]


def matches(state: State) -> Matches:
    """Give the verdicts for the catalogue in force."""
    return state.shared.derived("matches", state.in_force.catalogue, _match_all)


def _match_all(catalogue: Catalogue) -> Matches:
    verdicts = {name: match(name, model, catalogue) for name, model in catalogue.models.items()}
    devices: dict[tuple[ModelName, ClassName], int] = {}
    hourly: dict[tuple[ModelName, ClassName], Micros] = {}
    for name, of_model in verdicts.items():
        for verdict in of_model:
            if verdict.devices is not None and verdict.hourly_cost is not None:
                devices[name, verdict.node_class] = verdict.devices
                hourly[name, verdict.node_class] = micros(verdict.hourly_cost)
    return Matches(verdicts, devices, hourly)


def match_rows(state: State, name: ModelName) -> tuple[MatchRow, ...]:
    """Give every class's verdict on a model, in the order matching gives them."""
    return tuple(
        MatchRow(
            node_class=verdict.node_class,
            fits=verdict.fits,
            devices=verdict.devices,
            micros_per_hour=None if verdict.hourly_cost is None else micros(verdict.hourly_cost),
            reasons=tuple((reason.code, reason.evidence) for reason in verdict.reasons),
        )
        for verdict in matches(state).verdicts.get(name, ())
    )
