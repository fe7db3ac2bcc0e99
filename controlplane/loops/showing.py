"""What the scaling loop saw and decided, put where pages and metrics look: history and gauges."""

from collections.abc import Mapping, Sequence

from controlplane.decide.scaling.inputs import ScalingMemory, ScalingSeen
from controlplane.domain.decisions import Choice
from controlplane.domain.fleet import replicas_by_model
from controlplane.domain.load import ModelLoad
from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import ModelName
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.replicas import Replica
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
        self._history.zone_margins = {
            ModelName(c.subject): margin for c in choices if (margin := _zone_margin(c))
        }
        self._metrics.catalogued(self._fleet.catalogue.models)
        by_model = replicas_by_model(seen.view.replicas)
        for name, target in self._targets(choices).items():
            load = seen.loads.get(name)
            if load is None:
                continue
            point = self._point(target, load, by_model.get(name, ()))
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

    def _point(self, target: int, load: ModelLoad, replicas: tuple[Replica, ...]) -> Point:
        lanes: dict[str, int] = {}
        for replica in replicas:
            if replica.present:
                lanes[replica.lane] = lanes.get(replica.lane, 0) + 1
        classes = load.classes.items()
        arrivals = {p: c.arrivals.x for p, c in classes}
        queue = {p: c.queue.x for p, c in classes}
        memory = load.kv_usage.x
        return Point(
            at=load.at,
            arrivals=arrivals,
            queue=queue,
            wait_p99={p: c.wait_p99.x for p, c in classes},
            latency_p99={p: c.latency_p99.x for p, c in classes},
            drain_s=self._drain_s(load, replicas, queue),
            memory=memory if memory is not None else load.vram.x,
            utilisation=load.utilisation.x,
            lanes=lanes,
            target=target,
            forecasts=self._outlook(load.model).see(load.at, _sum(arrivals)),
        )

    def _outlook(self, model: ModelName) -> Outlook:
        outlook = self._outlooks.get(model)
        if outlook is None:
            outlook = self._outlooks[model] = Outlook()
        return outlook

    def _drain_s(
        self,
        load: ModelLoad,
        replicas: tuple[Replica, ...],
        queue: Mapping[Priority, float | None],
    ) -> float | None:
        """Give queue / throughput; None where a class's queue is unknown or nothing serves."""
        waiting = _sum(queue)
        if not waiting:
            return waiting
        facts = {f.node_class: f for f in self._fleet.table.facts.get(load.model, ())}
        measured = load.service_s.x
        throughput = sum(
            facts[r.node_class].slots / (measured or facts[r.node_class].service_s)
            for r in replicas
            if r.serving and r.node_class in facts
        )
        return waiting / throughput if throughput else None


def _sum(figures: Mapping[Priority, float | None]) -> float | None:
    """Add what is known of every class; None where one is unknown."""
    total = 0.0
    for x in figures.values():
        if x is None:
            return None
        total += x
    return total


def _zone_margin(choice: Choice) -> int:
    """Give how many replicas are kept only so that the loss of a zone is outlived."""
    for said in choice.trail:
        if said.code is ReasonCode.SURVIVES_ZONE:
            return next((int(e.value or 0) for e in said.evidence if e.name == "margin"), 0)
    return 0
