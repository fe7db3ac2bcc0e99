"""The figures that are answered with: put here by the loops, read by the scaler, never fetched.

A figure that is momentarily unknown keeps its last good value, with the time it was from. After
`HELD_S` it is given no more: KEDA then falls back to what is there, which is what an unknown load
deserves. A decision (`target`) is held like anything else: a daemon whose loops stand still must
not pretend to decide.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from controlplane.decide.handover.figures import Figures
from controlplane.domain.handover import ScalerMetric
from controlplane.domain.quantities import ClassName, Instant, ModelName

HELD_S = 300.0
METRICS: tuple[ScalerMetric, ...] = ("target", "drain", "wait_p99", "weighted_depth")

Key = tuple[ModelName, ClassName, str]


class Entry(NamedTuple):
    """A figure and when it was so."""

    x: int
    at: Instant


class Board:
    """What is known of every model."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._entries: dict[Key, Entry] = {}
        self._changed = asyncio.Event()

    def put(
        self, figures: Iterable[Figures], classes: Mapping[ModelName, Iterable[ClassName]]
    ) -> None:
        """Note what is known now; models and classes that are gone are forgotten."""
        kept: dict[Key, Entry] = {}
        for of_model in figures:
            for class_name in classes.get(of_model.model, ()):
                for metric in (*METRICS, "queue"):
                    key = (of_model.model, class_name, metric)
                    x = _figure(of_model, metric, class_name)
                    entry = self._entries.get(key) if x is None else Entry(x, of_model.at)
                    if entry is not None:
                        kept[key] = entry
        self._entries = kept
        self._changed.set()
        self._changed = asyncio.Event()

    def entry(self, model: ModelName, node_class: ClassName, metric: str) -> Entry | None:
        """Give the last good figure."""
        return self._entries.get((model, node_class, metric))

    @property
    def news(self) -> asyncio.Event:
        """Give what is set when something is put: take it before looking, and none is missed."""
        return self._changed


def _figure(figures: Figures, metric: str, node_class: ClassName) -> int | None:
    if metric == "queue":
        return figures.queue
    found: ScalerMetric = metric  # type: ignore[assignment]  # of METRICS
    return figures.of(found, node_class)
