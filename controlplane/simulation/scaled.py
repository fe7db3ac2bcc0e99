"""A scenario made to fit a real machine: fewer requests, less time between its bursts.

Thinning keeps the kind of every stream: one request in n of a Poisson process is a Poisson process,
one in n of a trace keeps the trace's bursts. A calendar squeezed by s brings requests s times as
fast, so one in s of them is kept and the rate is what it was. How long a request holds its slot
changes in neither case.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.quantities import ModelName
from controlplane.simulation.library import Loaded
from controlplane.simulation.scenario import Scenario, ScenarioModel
from controlplane.simulation.streams import StreamTraffic, generator
from controlplane.simulation.traffic import Chunk

LONGEST_S = 60.0  # of a run nobody said the length of


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How a scenario is made to fit."""

    share: float = 1.0
    """Share of the scenario's requests that come."""
    squeeze: float = 1.0
    """How many times shorter the scenario's calendar is; rates stay."""
    begin_s: float = 0.0
    """Where in the squeezed calendar to begin."""
    seconds: float | None = None
    """How long to go on; None: to its end, a minute at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """The requests of one model as they are to be sent, and the model they are for."""

    scenario: str
    model: ScenarioModel
    seconds: float
    requests: Chunk  # `at` counts from the start of the run; without tokens

    def chunks(self) -> Iterator[Chunk]:
        """Give the requests, as a world takes them."""
        if len(self.requests.at):
            yield self.requests

    def in_steps(self, step_s: float) -> "Scaled":
        """Give the same load with slots held for whole steps, one at least: for whole tokens."""
        held = np.maximum(1, np.rint(self.requests.service_s / step_s)) * step_s
        return replace(self, requests=self.requests._replace(service_s=held))

    @property
    def service_s(self) -> float:
        """Mean seconds on a slot; what was believed before, where nothing comes."""
        drawn = self.requests.service_s
        return float(drawn.mean()) if len(drawn) else self.model.service_s


def scaled(loaded: Loaded, name: ModelName, seed: int, scale: Scale) -> Scaled:
    """Draw the requests of one model; FaultsError says what cannot be."""
    lasts_s = loaded.scenario.duration_s / scale.squeeze
    seconds = scale.seconds
    if seconds is None:
        seconds = min(LONGEST_S, lasts_s - scale.begin_s)
    end_s = scale.begin_s + seconds
    if seconds <= 0 or end_s > lasts_s * (1 + 1e-9):
        rule = f"the scenario lasts {lasts_s:g} s at squeeze {scale.squeeze:g}"
        wanted = f"{scale.begin_s:g} to {end_s:g} s"
        raise FaultsError([Fault("--begin, --seconds", None, "", wanted, rule)])
    model = loaded.scenario.models[name]
    copies = max(1, ceil(scale.share / scale.squeeze))
    parts = [
        _thinned(loaded, name, seed + copy, scale, end_s, scale.share / scale.squeeze / copies)
        for copy in range(copies)
    ]
    return Scaled(scenario=loaded.name, model=model, seconds=seconds, requests=_in_order(parts))


def for_replicas(scenario: Scenario, name: ModelName, replicas: int, slots: int) -> Scenario:
    """Give the scenario of that model alone, on so many replicas that stay, with so many slots."""
    model = scenario.models[name]
    fixed = replace(model, slots=slots, min=replicas, max=replicas, initial=replicas)
    first = next(pool for pool in scenario.pools if pool.node_class == model.node_class)
    nodes = ceil(replicas * model.devices / first.devices_per_node)
    return replace(scenario, models={name: fixed}, pools=(replace(first, nodes=nodes),))


def _thinned(
    loaded: Loaded, name: ModelName, seed: int, scale: Scale, end_s: float, kept: float
) -> Chunk:
    streams = loaded.scenario.models[name].streams
    until, since = end_s * scale.squeeze, scale.begin_s * scale.squeeze
    traffic = StreamTraffic(name, streams, loaded.traces, seed, until=until)
    chance = generator(seed, name, "kept")
    chunks = [_some(chunk, chance, kept, since) for chunk in traffic.chunks()]
    whole = _joined(chunks)
    return whole._replace(at=whole.at / scale.squeeze - scale.begin_s)


def _some(chunk: Chunk, chance: np.random.Generator, kept: float, since: float) -> Chunk:
    mask = (chance.random(len(chunk.at)) < kept) & (chunk.at >= since)
    return Chunk(chunk.at[mask], chunk.rank[mask], chunk.service_s[mask])


def _joined(chunks: list[Chunk]) -> Chunk:
    if not chunks:
        return Chunk(np.empty(0), np.empty(0, dtype=np.int8), np.empty(0))
    return Chunk(
        np.concatenate([chunk.at for chunk in chunks]),
        np.concatenate([chunk.rank for chunk in chunks]),
        np.concatenate([chunk.service_s for chunk in chunks]),
    )


def _in_order(parts: list[Chunk]) -> Chunk:
    whole = _joined(parts)
    order = np.argsort(whole.at, kind="stable")
    return Chunk(whole.at[order], whole.rank[order], whole.service_s[order])
