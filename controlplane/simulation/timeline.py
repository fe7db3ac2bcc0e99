"""The course of a run for charts: each model's load, waits, lanes and target at some moments."""

from collections import Counter
from collections.abc import Mapping

from controlplane.domain.load import ModelLoad
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.replicas import Lane, Replica
from controlplane.domain.samples import Sample, number
from controlplane.ports import RunCourse
from controlplane.queueing.little import drain_time
from controlplane.simulation.scenario import ScenarioModel
from controlplane.simulation.world import Observation

BY_CLASS = ("arrivals", "queue", "wait_p99")


class Timeline:
    """Keeps about `points` moments of a run, evenly spread; with 0 it keeps none."""

    def __init__(
        self,
        models: Mapping[ModelName, ScenarioModel],
        start: Instant,
        duration_s: float,
        points: int,
    ) -> None:
        """Spread the moments over the duration."""
        self._models = models
        self._start = start
        self._step_s = duration_s / points if points else float("inf")
        self._next = start if points else float("inf")
        self._lines = {name: _Lines() for name in models}

    def note(self, seen: Observation, targets: Mapping[ModelName, int]) -> None:
        """Keep this moment when the next one is due."""
        at = seen.view.at
        if at < self._next:
            return
        self._next += self._step_s
        for name, lines in self._lines.items():
            lines.at.append(round(at - self._start, 3))
            lines.target.append(targets.get(name, 0))
            replicas = [replica for replica in seen.view.replicas if replica.model == name]
            lines.keep(seen.loads[name], replicas, self._models[name])

    def courses(self) -> dict[ModelName, RunCourse]:
        """Give what was kept, by model."""
        return {
            name: RunCourse(
                at=tuple(lines.at),
                target=tuple(lines.target),
                drain_s=tuple(lines.drain_s),
                lanes={lane: tuple(counts) for lane, counts in lines.lanes.items()},
                wait_limits={str(p): x for p, x in self._models[name].in_time_s.items()},
                **{
                    field: {p: tuple(line) for p, line in lines.by_class[field].items()}
                    for field in BY_CLASS
                },
            )
            for name, lines in self._lines.items()
        }


class _Lines:
    """One model's lines as they grow."""

    def __init__(self) -> None:
        self.at: list[float] = []
        self.target: list[int] = []
        self.drain_s: list[float | None] = []
        self.lanes: dict[str, list[int]] = {lane: [] for lane in Lane}
        self.by_class: dict[str, dict[str, list[float | None]]] = {
            field: {str(p): [] for p in PRIORITIES} for field in BY_CLASS
        }

    def keep(self, load: ModelLoad, replicas: list[Replica], model: ScenarioModel) -> None:
        for field, lines in self.by_class.items():
            for priority in PRIORITIES:
                sample: Sample = getattr(load.classes[priority], field)
                x = number(sample)
                lines[priority].append(None if x is None else round(x, 6))
        counts = Counter(replica.lane for replica in replicas if replica.present)
        for lane, line in self.lanes.items():
            line.append(counts[Lane(lane)])
        waiting = sum(lines[-1] or 0.0 for lines in self.by_class["queue"].values())
        slots = model.slots * sum(replica.serving for replica in replicas)
        service_s = number(load.service_s) or model.service_s
        drains = not waiting or slots
        self.drain_s.append(round(drain_time(waiting, service_s, slots), 3) if drains else None)
