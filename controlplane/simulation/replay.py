"""A trace replayed: once as it is, or in a loop and scaled, as the embedded fleet has it.

Scaling works block by block, so that a day's trace taken forty times over never lies in memory:
copies that come later than the next block begins are carried over and sorted in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from controlplane.domain.policies import STRICT
from controlplane.domain.quantities import PositiveSeconds, Seconds
from controlplane.simulation.traces import RequestTrace

BLOCK = 256  # requests of the trace taken at once


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
    """Begin anew after so long, from `start_s` again; without it the trace is replayed once."""


def replayed(
    trace: RequestTrace, replay: Replay, rng: np.random.Generator
) -> Iterator[RequestTrace]:
    """Give a trace in blocks, once or without end."""
    blocks = _blocks(_stretch(trace, replay), replay.loop_s)
    if replay.factor == 1:
        yield from (block for block, _ in blocks)
    else:
        yield from _scaled(blocks, replay, rng)


def _stretch(trace: RequestTrace, replay: Replay) -> RequestTrace:
    """Cut out the stretch that is replayed and let it begin at 0."""
    end = float("inf") if replay.loop_s is None else replay.start_s + replay.loop_s
    index = np.flatnonzero((trace.at >= replay.start_s) & (trace.at < end))
    return _picked(trace, index, trace.at[index] - replay.start_s)


def _blocks(trace: RequestTrace, loop_s: float | None) -> Iterator[tuple[RequestTrace, float]]:
    """Cut a trace into blocks, pass after pass; with each, when the next one begins."""
    shift = 0.0
    while len(trace):
        for start in range(0, len(trace), BLOCK):
            index = np.arange(start, min(start + BLOCK, len(trace)))
            if start + BLOCK < len(trace):
                after = float(trace.at[start + BLOCK]) + shift
            else:
                after = float("inf") if loop_s is None else float(trace.at[0]) + shift + loop_s
            yield _picked(trace, index, trace.at[index] + shift), after
        if loop_s is None:
            return
        shift += loop_s


def _scaled(
    blocks: Iterator[tuple[RequestTrace, float]], replay: Replay, rng: np.random.Generator
) -> Iterator[RequestTrace]:
    """Repeat each request floor(factor) times, once more by chance; repeats a little later."""
    whole = int(replay.factor)
    carried: RequestTrace | None = None
    for block, after in blocks:
        copies = whole + (rng.random(len(block)) < replay.factor - whole)
        index = np.repeat(np.arange(len(block)), copies)
        late = rng.random(len(index)) * replay.jitter_s
        late[np.flatnonzero(np.diff(index, prepend=-1))] = 0.0  # the first of each keeps its time
        grown = _picked(block, index, block.at[index] + late)
        if carried is not None:
            grown = _joined(carried, grown)
        order = np.argsort(grown.at, kind="stable")
        due = int(np.searchsorted(grown.at[order], after))
        carried = _picked(grown, order[due:], grown.at[order[due:]])
        yield _picked(grown, order[:due], grown.at[order[:due]])


def _joined(one: RequestTrace, two: RequestTrace) -> RequestTrace:
    both: dict[str, Any] = {"at": np.concatenate([one.at, two.at])}
    for column in ("prompt_tokens", "output_tokens", "service_s"):
        first, second = getattr(one, column), getattr(two, column)
        both[column] = None if first is None else np.concatenate([first, second])
    return RequestTrace(**both)


def _picked(trace: RequestTrace, index: NDArray[np.intp], at: NDArray[np.float64]) -> RequestTrace:
    return RequestTrace(
        at=at,
        prompt_tokens=None if trace.prompt_tokens is None else trace.prompt_tokens[index],
        output_tokens=None if trace.output_tokens is None else trace.output_tokens[index],
        service_s=None if trace.service_s is None else trace.service_s[index],
    )
