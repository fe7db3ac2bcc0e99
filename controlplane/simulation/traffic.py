"""Requests on their way to one model: arrays, in order of arrival, a chunk at a time.

Numbers, not objects: a scenario has millions of requests. What a chunk's size is must not change
what arrives, so that the same seed gives the same report.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Chunk(NamedTuple):
    """A stretch of requests; all arrays have one length."""

    at: NDArray[np.float64]  # seconds since the world's start, rising over all chunks
    rank: NDArray[np.int8]  # priority: 0 high, 1 medium, 2 low
    service_s: NDArray[np.float64]  # seconds on a slot of an engine that is warmed up
    prompt_tokens: NDArray[np.int32] | None = None
    output_tokens: NDArray[np.int32] | None = None


class Traffic(Protocol):
    """All requests of one model."""

    def chunks(self) -> Iterator[Chunk]:
        """Give the requests from the start; a second call gives the same ones again."""
        ...
