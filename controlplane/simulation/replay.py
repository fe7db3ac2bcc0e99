"""A trace replayed: once as it is, or in a loop and scaled, as the embedded fleet has it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from controlplane.domain.policies import STRICT
from controlplane.domain.quantities import PositiveSeconds, Seconds
from controlplane.simulation.traces import RequestTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A trace, once or in a loop, as it is or scaled."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    file: str
    """Name of a trace that ships with the product, or a path beside the scenario file."""
    factor: Annotated[float, Gt(0)] = 1.0
    """So many times the requests: each is repeated or left out by chance, so the shape stays."""
    jitter_s: Seconds = 5.0
    """A repeated request comes up to so much later than the one it repeats."""
    start_s: Seconds = 0.0
    """Begin this far into the trace."""
    loop_s: PositiveSeconds | None = None
    """Begin anew after so long; without it the trace is replayed once."""


def replayed(
    trace: RequestTrace, replay: Replay, rng: np.random.Generator
) -> Iterator[RequestTrace]:
    """Give a trace once, or pass after pass, scaled by chance."""
    kept = (trace.at >= replay.start_s) & (
        trace.at < replay.start_s + (replay.loop_s or float("inf"))
    )
    base = _picked(trace, np.flatnonzero(kept), trace.at[kept] - replay.start_s)
    turn = 0
    while True:
        one = base if replay.factor == 1 else _scaled(base, replay, rng)
        shift = turn * (replay.loop_s or 0.0)
        yield _picked(one, np.arange(len(one)), one.at + shift)
        if replay.loop_s is None or not len(base):
            return
        turn += 1


def _scaled(trace: RequestTrace, replay: Replay, rng: np.random.Generator) -> RequestTrace:
    """Repeat each request floor(factor) times, once more by chance; later ones a little later."""
    whole = int(replay.factor)
    copies = whole + (rng.random(len(trace)) < replay.factor - whole)
    index = np.repeat(np.arange(len(trace)), copies)
    late = rng.random(len(index)) * replay.jitter_s
    late[np.flatnonzero(np.diff(index, prepend=-1))] = 0.0  # the first of each keeps its time
    at = trace.at[index] + late
    if replay.loop_s is not None:
        at = np.minimum(at, np.nextafter(replay.loop_s, 0))
    order = np.argsort(at, kind="stable")
    return _picked(trace, index[order], at[order])


def _picked(trace: RequestTrace, index: NDArray[np.intp], at: NDArray[np.float64]) -> RequestTrace:
    return RequestTrace(
        at=at,
        prompt_tokens=None if trace.prompt_tokens is None else trace.prompt_tokens[index],
        output_tokens=None if trace.output_tokens is None else trace.output_tokens[index],
        service_s=None if trace.service_s is None else trace.service_s[index],
    )
