"""The charts of a model: every line on one time axis, gaps where nothing was known."""

from collections.abc import Callable, Mapping, Sequence

from controlplane.domain.catalogue import Model
from controlplane.domain.forecasts import Forecast
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.replicas import Lane
from controlplane.http.reads.shapes.models import ForecastLine, Mark, Series
from controlplane.http.state import State
from controlplane.ports import DecisionQuery
from controlplane.telemetry.history import Point

MARKS_SHOWN = 200
ByClass = Mapping[str, tuple[float | None, ...]]


async def series(state: State, name: str, since: Instant) -> Series | None:
    """Give a model's charts from `since` on; None where the model is not catalogued."""
    model = state.in_force.catalogue.models.get(ModelName(name))
    if model is None:
        return None
    points = state.history.points(ModelName(name), since)
    return Series(
        at=tuple(point.at for point in points),
        arrivals=_by_class(points, lambda point: point.arrivals),
        queue=_by_class(points, lambda point: point.queue),
        drain_s=tuple(point.drain_s for point in points),
        wait_p99=_by_class(points, lambda point: point.wait_p99),
        latency_p99=_by_class(points, lambda point: point.latency_p99),
        memory=tuple(point.memory for point in points),
        utilisation=tuple(point.utilisation for point in points),
        lanes={lane: tuple(point.lanes.get(lane, 0) for point in points) for lane in Lane},
        target=tuple(point.target for point in points),
        forecasts=_forecasts(points),
        marks=await _marks(state, name, since),
        drain_limit_s=model.policy.scaling.drain_limit_s,
        wait_limits=_limits(model),
        watermark=model.policy.scaling.watermark,
    )


def _by_class(
    points: Sequence[Point], read: Callable[[Point], Mapping[Priority, float | None]]
) -> ByClass:
    return {
        priority: tuple(read(point).get(priority) for point in points) for priority in PRIORITIES
    }


def _limits(model: Model) -> Mapping[str, float]:
    return {p: objective.wait_p99_s for p, objective in model.policy.objectives.items()}


def _forecasts(points: Sequence[Point]) -> tuple[ForecastLine, ...]:
    """Group forecasts by expert, each at the moment it was made for."""
    by_expert: dict[str, list[Forecast]] = {}
    for point in points:
        for forecast in point.forecasts:
            by_expert.setdefault(forecast.expert, []).append(forecast)
    return tuple(_forecast_line(expert, made) for expert, made in sorted(by_expert.items()))


def _forecast_line(expert: str, made: Sequence[Forecast]) -> ForecastLine:
    return ForecastLine(
        expert=expert,
        trusted=made[-1].trusted,
        error=made[-1].error,
        at=tuple(forecast.at + forecast.horizon_s for forecast in made),
        rate=tuple(forecast.rate for forecast in made),
        low=tuple(forecast.low for forecast in made),
        high=tuple(forecast.high for forecast in made),
    )


async def _marks(state: State, name: str, since: Instant) -> tuple[Mark, ...]:
    """Give the decisions that moved the target, oldest first."""
    query = DecisionQuery(subject=name, since=since, moved_only=True, limit=MARKS_SHOWN)
    rows = await state.decisions.decisions(query)
    return tuple(
        Mark(at=row.at, id=row.id, current=row.current, target=row.target, code=row.decisive)
        for row in reversed(rows)
    )
