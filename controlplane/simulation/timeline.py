"""The course of a run for charts: targets, fleet, queues and arrivals at some moments."""

from collections.abc import Mapping
from typing import Any

from controlplane.domain.load import ModelLoad
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.samples import Sample, number
from controlplane.simulation.world import Observation


class Timeline:
    """Keeps about `points` moments of a run, evenly spread; with 0 it keeps none."""

    def __init__(self, start: Instant, duration_s: float, points: int) -> None:
        """Spread the moments over the duration."""
        self._start = start
        self._step_s = duration_s / points if points else float("inf")
        self._next = start if points else float("inf")
        self.rows: list[dict[str, Any]] = []

    def note(self, seen: Observation, targets: Mapping[ModelName, int]) -> None:
        """Keep this moment when the next one is due."""
        at = seen.view.at
        if at < self._next:
            return
        self._next += self._step_s
        serving = [replica for replica in seen.view.replicas if replica.serving]
        self.rows.append(
            {
                "t_s": round(at - self._start, 3),
                "target": sum(targets.values()),
                "serving": len(serving),
                "pods": len(seen.view.replicas),
                "queue": {str(p): _sum(seen, p.rank, "queue") for p in PRIORITIES},
                "arrivals": {str(p): _sum(seen, p.rank, "arrivals") for p in PRIORITIES},
                "wait_p99_s": {str(p): _worst(seen, p.rank) for p in PRIORITIES},
            }
        )


def _samples(seen: Observation, rank: int, field: str) -> list[float]:
    loads: list[ModelLoad] = list(seen.loads.values())
    samples: list[Sample] = [getattr(load.classes[PRIORITIES[rank]], field) for load in loads]
    return [x for x in map(number, samples) if x is not None]


def _sum(seen: Observation, rank: int, field: str) -> float | None:
    known = _samples(seen, rank, field)
    return round(sum(known), 6) if known else None


def _worst(seen: Observation, rank: int) -> float | None:
    known = _samples(seen, rank, "wait_p99")
    return round(max(known), 6) if known else None
