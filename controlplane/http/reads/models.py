"""The table of models: lanes, drain time and waits against their limits, memory, cost."""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from controlplane.domain.catalogue import Model
from controlplane.domain.fleet import replicas_by_model
from controlplane.domain.load import ClassLoad, ModelLoad, silent
from controlplane.domain.overrides import Overrides, isolated, paused, pinned
from controlplane.domain.policies import Objective
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.replicas import Lane, Phase, Replica
from controlplane.domain.samples import Sample, fresh, known, number
from controlplane.http.reads.figures import Figure, SparkPoints, figure, unknown
from controlplane.http.reads.latest import latest
from controlplane.http.reads.lines import decision_line
from controlplane.http.reads.matches import Matches, matches
from controlplane.http.reads.shapes.models import ClassRow, LaneCounts, ModelRow
from controlplane.http.state import State
from controlplane.ports import DecisionRow
from controlplane.telemetry.history import Point

SPARK_POINTS = 60
STALE_AFTER_S = 30.0
MODELS_AT_ONCE = 10  # then others get their turn


class Seen(msgspec.Struct, frozen=True):
    """What all rows of one look share."""

    now: Instant
    stale_s: float
    replicas: Mapping[ModelName, tuple[Replica, ...]] | None  # None: not seen yet
    matches: Matches
    overrides: Overrides
    latest: Mapping[str, DecisionRow]


async def look(state: State) -> Seen:
    """Gather what the rows need, once for all of them."""
    view = state.history.view
    return Seen(
        state.clock.now(),
        # In a fast world the real pauses between cycles are longer in its seconds.
        STALE_AFTER_S + 3 * state.clock.rate,
        None if view is None else replicas_by_model(view.replicas),
        matches(state),
        await state.overrides.overrides(),
        await latest(state),
    )


async def model_rows(state: State) -> tuple[ModelRow, ...]:
    """Give a row for every catalogued model, the most important first."""
    return await state.shared.once("models", 0.8, lambda: _rows(state))


async def _rows(state: State) -> tuple[ModelRow, ...]:
    seen = await look(state)
    models = sorted(
        state.in_force.catalogue.models.items(), key=lambda item: (item[1].importance, item[0])
    )
    rows: list[ModelRow] = []
    for name, model in models:
        rows.append(model_row(state, name, model, seen))
        if len(rows) % MODELS_AT_ONCE == 0:
            await asyncio.sleep(0)
    return tuple(rows)


def model_row(state: State, name: ModelName, model: Model, seen: Seen) -> ModelRow:
    """Give one model's row."""
    history = state.history
    load = history.loads.get(name) or silent(name, seen.now)
    points = history.tail(name, SPARK_POINTS)
    standing = history.plan.get(name)
    of_model = None if seen.replicas is None else seen.replicas.get(name, ())
    classes = class_rows(model, load, seen)
    tightest = _tightest(classes)
    row = seen.latest.get(name)
    pause, pin = paused(seen.overrides, name), pinned(seen.overrides, name)
    out = isolated(seen.overrides).get(name)
    cost, warm = hourly(of_model, seen.matches)
    return ModelRow(
        name=name,
        team=model.team,
        kind=model.kind,
        importance=model.importance,
        target=standing.replicas if standing else None,
        advised=history.advice.get(name),
        lanes=None if of_model is None else lane_counts(of_model),
        slo_broken=bool(standing and standing.slo_broken),
        classes=classes,
        drain=_drain(model, load, points, seen),
        drain_points=tuple((point.at, point.drain_s) for point in points),
        wait=tightest.wait_p99 if tightest else unknown("NoObjective", unit="s"),
        wait_class=tightest.priority if tightest else None,
        wait_points=_wait_points(points, tightest),
        memory=_memory(model, load, seen),
        utilisation=shown(load.utilisation, seen),
        last=decision_line(row) if row else None,
        cost_micros_per_hour=cost,
        warm_micros_per_hour=warm,
        paused_by=pause.by if pause else None,
        paused_at=pause.at if pause else None,
        pinned=pin.pinned if pin else None,
        pinned_by=pin.by if pin else None,
        isolated_by=out.by if out else None,
        isolated_at=out.at if out else None,
    )


def lane_counts(replicas: Sequence[Replica]) -> LaneCounts:
    """Count a model's replicas; a lost one counts in no lane."""
    present = [replica for replica in replicas if replica.present]
    leaving = [replica for replica in replicas if replica.phase is Phase.TERMINATING]
    by_lane = {lane: [r for r in present if r.lane is lane] for lane in Lane}
    return LaneCounts(
        serving=len(by_lane[Lane.SERVING]),
        warm=len(by_lane[Lane.WARM]),
        loading=len(by_lane[Lane.LOADING]),
        draining=len(by_lane[Lane.DRAINING]) + len(leaving),
        sleeping=sum(replica.sleeping for replica in by_lane[Lane.WARM]),
        pending=sum(replica.node is None for replica in by_lane[Lane.LOADING]),
        lost=len(replicas) - len(present) - len(leaving),
    )


def class_rows(model: Model, load: ModelLoad, seen: Seen) -> tuple[ClassRow, ...]:
    """Give every priority class of a model, highest first."""
    return tuple(
        _class_row(
            priority,
            load.classes.get(priority) or ClassLoad(),
            model.policy.objectives.get(priority),
            seen,
        )
        for priority in PRIORITIES
    )


def _class_row(
    priority: Priority, load: ClassLoad, objective: Objective | None, seen: Seen
) -> ClassRow:
    wait_s = objective.wait_p99_s if objective else None
    latency_s = objective.latency_p99_s if objective else None
    return ClassRow(
        priority=str(priority),
        queue=shown(load.queue, seen),
        arrivals=shown(load.arrivals, seen, unit="/s"),
        turned_away=shown(load.turned_away, seen, 0.0, "/s"),
        wait_p99=shown(load.wait_p99, seen, wait_s, "s"),
        latency_p99=shown(load.latency_p99, seen, latency_s, "s"),
    )


def shown(sample: Sample, seen: Seen, limit: float | None = None, unit: str = "") -> Figure:
    """Give a sample as a figure; one that is too old is none."""
    return figure(fresh(sample, seen.now, seen.stale_s), seen.now, limit, unit)


def _tightest(classes: Sequence[ClassRow]) -> ClassRow | None:
    """Pick the class nearest to, or farthest beyond, its promised wait."""
    promised = [row for row in classes if row.wait_p99.limit]
    if not promised:
        return None
    return max(promised, key=lambda row: _share(row.wait_p99))


def _share(wait: Figure) -> float:
    return -1.0 if wait.value is None else wait.value / (wait.limit or 1.0)


def _wait_points(points: Sequence[Point], tightest: ClassRow | None) -> SparkPoints:
    if tightest is None:
        return ()
    priority = Priority(tightest.priority)
    return tuple((point.at, point.wait_p99.get(priority)) for point in points)


def _drain(model: Model, load: ModelLoad, points: Sequence[Point], seen: Seen) -> Figure:
    limit = model.policy.scaling.drain_limit_s
    point = points[-1] if points else None
    if point is None:
        return unknown(limit=limit, unit="s")
    if seen.now - point.at > seen.stale_s:
        return Figure(value=None, limit=limit, unit="s", why="Stale", since=point.at)
    if point.drain_s is not None:
        return Figure(value=point.drain_s, limit=limit, unit="s")
    for of_class in load.classes.values():
        if not known(of_class.queue):
            return figure(of_class.queue, seen.now, limit, "s")
    return unknown("NoCapacity", limit=limit, unit="s")  # a queue, and nothing that serves it


def _memory(model: Model, load: ModelLoad, seen: Seen) -> Figure:
    watermark = model.policy.scaling.watermark
    sample = load.kv_usage if number(load.kv_usage) is not None else load.vram
    return shown(sample if known(sample) else load.kv_usage, seen, watermark)


def hourly(replicas: Sequence[Replica] | None, table: Matches) -> tuple[int | None, int | None]:
    """Give what the replicas cost per hour, and the part of it that is warm."""
    if replicas is None:
        return None, None
    holding = [r for r in replicas if r.node is not None and r.phase is not Phase.FAILED]
    price = {r.name: table.hourly.get((r.model, r.node_class)) for r in holding}
    if any(amount is None for amount in price.values()):
        return None, None  # a replica on a class the catalogue no longer prices
    warm = [r for r in holding if r.lane is Lane.WARM]
    return sum(price[r.name] or 0 for r in holding), sum(price[r.name] or 0 for r in warm)
