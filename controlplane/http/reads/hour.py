"""The last hour in two figures: how much of what was held stood idle, and the newest breach.

Every point is looked at once, when it is new; what it says is kept by the minute. An hour of a
thousand models is 720,000 points, far too many to walk each time somebody looks.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.replicas import Lane
from controlplane.http.reads.matches import matches
from controlplane.http.state import State
from controlplane.telemetry.history import History, Point

HOUR_S = 3600.0
MINUTE_S = 60.0
FEW = 12  # points that usually came since the last look
MODELS_AT_ONCE = 10
KEPT_S = 2.0


class Breach(NamedTuple):
    """A wait broke its limit; `answered_s` later added capacity served (None: not yet)."""

    at: Instant
    model: str
    answered_s: float | None


class LastHour(NamedTuple):
    """The two figures; None where nothing was seen, or nothing happened."""

    idle_share: float | None
    breach: Breach | None


class Progress(NamedTuple):
    """How far a model's points were looked at, and what the newest of them said."""

    until: Instant = 0.0
    broken: bool = False
    serving_then: int = 0
    breach: Breach | None = None


class Minutes:
    """Device time held and busy, by minute."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.progress: dict[ModelName, Progress] = {}
        self._held: dict[int, float] = {}
        self._busy: dict[int, float] = {}

    def add(self, point: Point, devices: int) -> None:
        """Add what a point says; one that does not know the utilisation says nothing."""
        if point.utilisation is None:
            return
        minute = int(point.at // MINUTE_S)
        held = devices * sum(point.lanes.values())
        busy = devices * point.lanes.get(Lane.SERVING, 0) * point.utilisation
        self._held[minute] = self._held.get(minute, 0.0) + held
        self._busy[minute] = self._busy.get(minute, 0.0) + busy

    def idle_share(self, now: Instant) -> float | None:
        """Give the share of held device time that stood idle, and forget what is too old."""
        oldest = int((now - HOUR_S) // MINUTE_S)
        for minute in [minute for minute in self._held if minute < oldest]:
            del self._held[minute], self._busy[minute]
        held = sum(self._held.values())
        return 1 - sum(self._busy.values()) / held if held else None


async def last_hour(state: State) -> LastHour:
    """Give the two figures."""
    return await state.shared.once("hour", KEPT_S, lambda: _last_hour(state))


async def _last_hour(state: State) -> LastHour:
    minutes = state.shared.thing("minutes", Minutes)
    sizes: dict[ModelName, int] = {}
    for (name, _), count in matches(state).devices.items():
        sizes[name] = min(count, sizes.get(name, count))
    for index, (name, model) in enumerate(state.in_force.catalogue.models.items()):
        limits = {p: objective.wait_p99_s for p, objective in model.policy.objectives.items()}
        progress = minutes.progress.get(name, Progress())
        points = new_points(state.history, name, progress.until)
        for point in points:
            minutes.add(point, sizes.get(name, 1))
        minutes.progress[name] = watch_breach(name, progress, points, limits)
        if index % MODELS_AT_ONCE == 0:
            await asyncio.sleep(0)
    now = state.clock.now()
    return LastHour(minutes.idle_share(now), _newest(minutes.progress.values(), now - HOUR_S))


def new_points(history: History, model: ModelName, until: Instant) -> Sequence[Point]:
    """Give the points after `until`, without walking the whole hour for a few of them."""
    few = history.tail(model, FEW)
    if few and few[0].at <= until:
        return [point for point in few if point.at > until]
    return [point for point in history.points(model) if point.at > until]


def watch_breach(
    model: str, progress: Progress, points: Iterable[Point], limits: Mapping[Priority, float]
) -> Progress:
    """Follow a model's waits: when one breaks its limit, and how soon more replicas serve."""
    until, was_broken, serving_then, breach = progress
    for point in points:
        broken = False
        for priority, limit in limits.items():
            wait = point.wait_p99.get(priority)
            broken = broken or (wait is not None and wait > limit)
        serving = point.lanes.get(Lane.SERVING, 0)
        if broken and not was_broken:
            breach, serving_then = Breach(point.at, model, None), serving
        elif breach is not None and breach.answered_s is None and serving > serving_then:
            breach = breach._replace(answered_s=point.at - breach.at)
        until, was_broken = point.at, broken
    return Progress(until, was_broken, serving_then, breach)


def _newest(progress: Iterable[Progress], since: Instant) -> Breach | None:
    breaches = [one.breach for one in progress if one.breach is not None]
    return max((one for one in breaches if one.at >= since), default=None)
