"""What the scaling loop saw and decided, put where pages and metrics look: history and gauges."""

from collections import Counter
from collections.abc import Sequence

from controlplane.decide.scaling.inputs import ScalingMemory, ScalingSeen
from controlplane.domain.decisions import Choice
from controlplane.domain.fleet import replicas_by_model
from controlplane.domain.forecasts import Forecast
from controlplane.domain.load import ModelLoad
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ModelName
from controlplane.domain.replicas import Replica
from controlplane.domain.samples import number
from controlplane.forecasting.outlook import Outlook
from controlplane.loops.fleet import Fleet
from controlplane.telemetry.history import History, Point
from controlplane.telemetry.metrics import Metrics


class Showing:
    """Called after each scaling cycle."""

    def __init__(self, fleet: Fleet, history: History, metrics: Metrics) -> None:
        """Show this fleet."""
        self._fleet = fleet
        self._history = history
        self._metrics = metrics
        self._outlooks: dict[ModelName, Outlook] = {}

    def __call__(self, seen: ScalingSeen, choices: Sequence[Choice], memory: ScalingMemory) -> None:
        """Add a point per model and set the gauges."""
        self._history.view, self._history.loads = seen.view, seen.loads
        self._history.plan = self._fleet.in_force.plan
        self._history.advice = {ModelName(c.subject): c.target for c in choices}
        self._metrics.catalogued(self._fleet.catalogue.models)
        by_model = replicas_by_model(seen.view.replicas)
        for name, target in self._targets(choices).items():
            load = seen.loads.get(name)
            if load is None:
                continue
            arrivals = [number(c.arrivals) for c in load.classes.values()]
            rate = None if None in arrivals else sum(x or 0.0 for x in arrivals)
            forecasts = self._outlooks.setdefault(name, Outlook()).see(load.at, rate)
            point = self._point(target, load, by_model.get(name, ()), forecasts)
            self._history.add(name, point)
            self._metrics.load(load, point.drain_s)
            self._metrics.replicas(name, point.lanes)
            of_model = memory.models.get(name)
            broken = of_model is not None and of_model.slo_broken
            self._metrics.standing(name, point.target, slo_broken=broken)

    def _targets(self, choices: Sequence[Choice]) -> dict[ModelName, int]:
        """Give what was decided; a follower decides nothing, and shows what is in force."""
        if choices:
            return {ModelName(choice.subject): choice.target for choice in choices}
        return {name: held.replicas for name, held in self._fleet.in_force.plan.items()}

    def _point(
        self,
        target: int,
        load: ModelLoad,
        replicas: tuple[Replica, ...],
        forecasts: tuple[Forecast, ...],
    ) -> Point:
        lanes = Counter(str(r.lane) for r in replicas if r.present)
        queue = {p: number(c.queue) for p, c in load.classes.items()}
        memory = number(load.kv_usage)
        return Point(
            at=load.at,
            arrivals={p: number(c.arrivals) for p, c in load.classes.items()},
            queue=queue,
            wait_p99={p: number(c.wait_p99) for p, c in load.classes.items()},
            latency_p99={p: number(c.latency_p99) for p, c in load.classes.items()},
            drain_s=self._drain_s(load, replicas, queue),
            memory=memory if memory is not None else number(load.vram),
            utilisation=number(load.utilisation),
            lanes=lanes,
            target=target,
            forecasts=forecasts,
        )

    def _drain_s(
        self,
        load: ModelLoad,
        replicas: tuple[Replica, ...],
        queue: dict[Priority, float | None],
    ) -> float | None:
        """Give queue / throughput; None where a class's queue is unknown or nothing serves."""
        facts = {f.node_class: f for f in self._fleet.table.facts.get(load.model, ())}
        measured = number(load.service_s)
        throughput = sum(
            facts[r.node_class].slots / (measured or facts[r.node_class].service_s)
            for r in replicas
            if r.serving and r.node_class in facts
        )
        waiting = [depth for depth in queue.values() if depth is not None]
        if len(waiting) < len(queue):
            return None
        if not sum(waiting):
            return 0.0
        return sum(waiting) / throughput if throughput else None
