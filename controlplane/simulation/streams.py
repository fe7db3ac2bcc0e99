"""Traffic of one model: its streams, each drawn by generators of its own, merged in time.

Every stream's generators descend from the seed by the stream's name, so adding a stream or a model
changes nothing about the others. How much is handed over at once decides nothing either: by default
as much as the source that is drawn least far ahead allows, some thousand requests.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from controlplane.domain.policies import STRICT
from controlplane.domain.priorities import Priority
from controlplane.simulation.arrivals import Arrivals, times
from controlplane.simulation.replay import replayed
from controlplane.simulation.service_times import ServiceTime
from controlplane.simulation.traces import RequestTrace
from controlplane.simulation.traffic import Chunk

Tokens = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Requests of one class: when they come and how long they hold a slot."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    priority: Priority
    arrivals: Arrivals
    service: ServiceTime

    def __post_init__(self) -> None:
        if self.service.from_trace and self.arrivals.trace is None:
            raise ValueError("service from_trace needs arrivals from a trace")
        tokens = self.service.tokens
        if tokens and self.arrivals.trace is None and not (tokens.prompt and tokens.output):
            raise ValueError("tokens need prompt and output where arrivals are no trace")


def generator(seed: int, *key: str) -> np.random.Generator:
    """Give the generator that belongs to a key: the same for ever, whoever else there is."""
    words = tuple(crc32(part.encode()) for part in key)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=words)))


class StreamTraffic:
    """All requests of one model, up to `until` (or for ever)."""

    def __init__(
        self,
        model: str,
        streams: Mapping[str, Stream],
        traces: Mapping[str, RequestTrace],
        seed: int,
        *,
        until: float = float("inf"),
        window_s: float | None = None,
    ) -> None:
        """Traces are given by the name the streams use; they are read once, elsewhere."""
        self._model = model
        self._streams = streams
        self._traces = traces
        self._seed = seed
        self._until = until
        self._window_s = window_s

    def chunks(self) -> Iterator[Chunk]:
        """Give the requests from the start; a second call gives the same ones again."""
        sources = [_Source(self._drawn(name)) for name in self._streams]
        while True:
            first = min((source.first for source in sources), default=float("inf"))
            if first >= self._until:
                return
            if self._window_s is None:
                end = np.nextafter(min(source.last for source in sources), np.inf)
            else:  # windows without a request are skipped
                end = (first // self._window_s + 1) * self._window_s
            end = min(max(float(end), float(np.nextafter(first, np.inf))), self._until)
            yield _merged([part for source in sources for part in source.take(end)])

    def _drawn(self, name: str) -> Iterator[Chunk]:
        stream = self._streams[name]
        chance = generator(self._seed, self._model, name)
        coming, serving = chance.spawn(2)
        replay = stream.arrivals.trace
        if replay is not None:
            blocks = replayed(self._traces[replay.file], replay, coming)
            return _from_trace(blocks, stream, serving)
        return _from_process(stream, coming, serving, self._until)


def _from_process(
    stream: Stream, coming: np.random.Generator, serving: np.random.Generator, until: float
) -> Iterator[Chunk]:
    process = stream.arrivals.process
    if process is None:
        return
    for at in times(process, coming, until):
        prompt, output = _tokens(stream, serving, len(at))
        yield _chunk(
            stream, at, _service(stream, serving, len(at), (prompt, output)), prompt, output
        )


def _from_trace(
    blocks: Iterator[RequestTrace], stream: Stream, serving: np.random.Generator
) -> Iterator[Chunk]:
    for block in blocks:
        tokens = (block.prompt_tokens, block.output_tokens)
        if stream.service.from_trace and block.service_s is not None:
            service = block.service_s
        else:
            service = _service(stream, serving, len(block), tokens)
        yield _chunk(stream, block.at, service, *tokens)


def _part(column: Tokens | None, part: slice) -> Tokens | None:
    return None if column is None else column[part]


def _tokens(
    stream: Stream, rng: np.random.Generator, n: int
) -> tuple[Tokens | None, Tokens | None]:
    law = stream.service.tokens
    if law is None or law.prompt is None or law.output is None:
        return None, None
    return law.prompt.draw(rng, n), law.output.draw(rng, n)


def _service(
    stream: Stream, rng: np.random.Generator, n: int, tokens: tuple[Tokens | None, Tokens | None]
) -> NDArray[np.float64]:
    law = stream.service.law
    if law is not None:
        return law.draw(rng, n)
    prompt, output = tokens
    if stream.service.tokens is None or prompt is None or output is None:
        raise ValueError("the trace has neither service_s nor prompt_tokens and output_tokens")
    return stream.service.tokens.seconds(prompt, output)


def _chunk(
    stream: Stream,
    at: NDArray[np.float64],
    service: NDArray[np.float64],
    prompt: Tokens | None,
    output: Tokens | None,
) -> Chunk:
    rank = np.full(len(at), stream.priority.rank, dtype=np.int8)
    return Chunk(at, rank, service, prompt, output)


class _Source:
    """One stream's requests, handed out up to a moment, the rest kept."""

    def __init__(self, drawn: Iterator[Chunk]) -> None:
        self._drawn = drawn
        self._held: Chunk | None = None
        self._refill()

    @property
    def first(self) -> float:
        """When the next request comes; infinite when none is left."""
        return float("inf") if self._held is None else float(self._held.at[0])

    @property
    def last(self) -> float:
        """When the last request that is drawn already comes; infinite when none is left."""
        return float("inf") if self._held is None else float(self._held.at[-1])

    def take(self, end: float) -> Iterator[Chunk]:
        """Hand out everything before `end`."""
        while self._held is not None and self._held.at[0] < end:
            cut = int(np.searchsorted(self._held.at, end))
            yield _sliced(self._held, slice(0, cut))
            if cut < len(self._held.at):
                self._held = _sliced(self._held, slice(cut, None))
            else:
                self._refill()

    def _refill(self) -> None:
        self._held = next((chunk for chunk in self._drawn if len(chunk.at)), None)


def _sliced(chunk: Chunk, part: slice) -> Chunk:
    return Chunk(
        chunk.at[part],
        chunk.rank[part],
        chunk.service_s[part],
        _part(chunk.prompt_tokens, part),
        _part(chunk.output_tokens, part),
    )


def _merged(parts: Sequence[Chunk]) -> Chunk:
    """Put parts in order of time; at one instant the stream named first comes first."""
    if len(parts) == 1:
        return parts[0]
    at = np.concatenate([part.at for part in parts])
    order = np.argsort(at, kind="stable")
    return Chunk(
        at[order],
        np.concatenate([part.rank for part in parts])[order],
        np.concatenate([part.service_s for part in parts])[order],
        _joined([part.prompt_tokens for part in parts], parts, order),
        _joined([part.output_tokens for part in parts], parts, order),
    )


def _joined(
    columns: Sequence[Tokens | None], parts: Sequence[Chunk], order: NDArray[np.intp]
) -> Tokens | None:
    """Join token columns; streams without tokens count none, and none at all stay absent."""
    if all(column is None for column in columns):
        return None
    filled = [
        np.zeros(len(part.at), dtype=np.int32) if column is None else column
        for column, part in zip(columns, parts, strict=True)
    ]
    return np.concatenate(filled)[order]
