"""The queues as people read them: each class of each model against its limits.

Where requests pass this daemon by (a cluster without its gateway) nobody counts them here: what
engines tell is shown, the rest says that it is not counted.
"""

import asyncio
from collections.abc import Iterator

from controlplane.decide.admission.limits import Limits
from controlplane.domain.catalogue import Model
from controlplane.domain.load import ClassLoad, silent
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import ModelName
from controlplane.domain.queues import ClassQueue, ModelQueue, Queues
from controlplane.domain.samples import Absence, reading
from controlplane.http.reads.figures import Figure, unknown
from controlplane.http.reads.models import Seen, look, shown
from controlplane.http.reads.shapes.queues import QueueRow
from controlplane.http.state import State
from controlplane.ports import UnavailableError

NOT_COUNTED = "NotCounted"
MODELS_AT_ONCE = 25  # then others get their turn


async def queue_rows(state: State) -> tuple[QueueRow, ...]:
    """Give a row for every class of every catalogued model, the most important first."""
    return await state.shared.once("queues", 0.8, lambda: _rows(state))


async def _rows(state: State) -> tuple[QueueRow, ...]:
    seen = await look(state)
    queues, why = await _counted(state)
    models = sorted(
        state.in_force.catalogue.models.items(), key=lambda item: (item[1].importance, item[0])
    )
    rows: list[QueueRow] = []
    for number, (name, model) in enumerate(models, 1):
        rows += _of_model(state, name, model, queues.get(name), seen, why)
        if number % MODELS_AT_ONCE == 0:
            await asyncio.sleep(0)
    return tuple(rows)


async def _counted(state: State) -> tuple[Queues, str]:
    """Ask the front door; where it does not tell, say why."""
    try:
        told = await state.door.queues()
    except UnavailableError:
        return {}, str(Absence.UNREACHABLE)
    return ({}, NOT_COUNTED) if told is None else (told, str(Absence.NOT_YET))


def _of_model(
    state: State, name: ModelName, model: Model, queue: ModelQueue | None, seen: Seen, why: str
) -> Iterator[QueueRow]:
    load = state.history.loads.get(name) or silent(name, seen.now)
    limits = Limits.of(model.policy.admission)
    for priority in PRIORITIES:
        told = load.classes.get(priority) or ClassLoad()
        plain = _told(name, model, priority, told, seen, why)
        counted = None if queue is None else queue.classes.get(priority)
        if queue is None or counted is None:
            yield plain
        else:
            yield _row(plain, queue, counted, limits, seen)


def _told(
    name: ModelName, model: Model, priority: Priority, load: ClassLoad, seen: Seen, why: str
) -> QueueRow:
    """Give what the signals tell, for want of anybody who counts."""
    objective = model.policy.objectives.get(priority)
    promised = objective.wait_p99_s if objective else None
    nobody, nobody_rate = unknown(why), unknown(why, unit="/s")
    return QueueRow(
        model=name,
        team=model.team,
        importance=model.importance,
        priority=str(priority),
        waiting=shown(load.queue, seen, _bound(model, priority)),
        longest_wait=unknown(why, limit=promised, unit="s"),
        wait_p99=shown(load.wait_p99, seen, promised, "s"),
        in_flight=nobody,
        arrivals=shown(load.arrivals, seen, unit="/s"),
        admitted=nobody_rate,
        aged=nobody,
        minimum=nobody,
        left=nobody,
        refused=nobody,
    )


def _row(
    plain: QueueRow, queue: ModelQueue, counted: ClassQueue, limits: Limits, seen: Seen
) -> QueueRow:
    """Give what was counted."""
    lately, at, rank = counted.lately, queue.at, Priority(plain.priority).rank
    most = limits.most(rank, slots=queue.slots, lent=queue.lent, ready=queue.ready)

    def now(x: float, limit: float | None = None, unit: str = "") -> Figure:
        return shown(reading(x, at), seen, limit, unit)

    def of_late(count: float, unit: str = "") -> Figure:
        """Say how many lately, or how many a second; before a second look nobody can say."""
        if not queue.lately_s:
            return unknown(unit=unit)
        return now(count / queue.lately_s if unit else count, unit=unit)

    return QueueRow(
        model=plain.model,
        team=plain.team,
        importance=plain.importance,
        priority=plain.priority,
        waiting=now(counted.waiting, plain.waiting.limit),
        longest_wait=now(counted.oldest_s, plain.longest_wait.limit, "s"),
        wait_p99=plain.wait_p99,
        in_flight=now(counted.in_flight, most),
        arrivals=of_late(lately.arrived, "/s"),
        admitted=of_late(lately.admitted, "/s"),
        aged=of_late(lately.aged),
        minimum=of_late(lately.minimum),
        left=of_late(lately.left),
        refused=of_late(sum(lately.refused.values())),
        refused_by=lately.refused,
        refused_before=counted.counted.refused,
        tenants=counted.tenants,
        slots=queue.slots,
        lent=queue.lent,
        ready=queue.ready,
        held=queue.held,
        lately_s=queue.lately_s or None,
        counted_since=queue.since,
    )


def _bound(model: Model, priority: Priority) -> float | None:
    """Give how many may wait; one queue for all has no bound."""
    policy = model.policy.admission
    return None if policy.single_queue else policy.queue_bounds.get(priority)
