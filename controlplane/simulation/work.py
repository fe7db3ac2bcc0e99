"""Counts the work of a model's requests as they pass, for the lower bound."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from controlplane.domain.priorities import PRIORITIES
from controlplane.simulation.traffic import Chunk, Traffic

STEP_S = 5.0


class MeteredTraffic:
    """Hands requests on unchanged and adds up their slot seconds per class and 5 s step."""

    def __init__(self, traffic: Traffic, duration_s: float) -> None:
        """Meter a traffic that ends with the scenario."""
        self._traffic = traffic
        self._steps = int(np.ceil(duration_s / STEP_S))
        self.work: NDArray[np.float64] = np.zeros((len(PRIORITIES), self._steps))

    def chunks(self) -> Iterator[Chunk]:
        """Give the requests from the start, and begin counting anew."""
        self.work = np.zeros((len(PRIORITIES), self._steps))
        for chunk in self._traffic.chunks():
            self._count(chunk)
            yield chunk

    def _count(self, chunk: Chunk) -> None:
        step = np.minimum((chunk.at / STEP_S).astype(np.int64), self._steps - 1)
        first, last = int(step[0]), int(step[-1])
        width = last - first + 1
        place = chunk.rank.astype(np.int64) * width + (step - first)
        counted = np.bincount(place, weights=chunk.service_s, minlength=len(PRIORITIES) * width)
        self.work[:, first : last + 1] += counted.reshape(len(PRIORITIES), width)
