"""Looks for what is worth a person after every look of scaling, and says so to whoever notifies.

The leader tells. What a daemon does not have, breakers without a gateway, costs before the first
bill, is asked of whoever was given to ask, and empty without one.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from controlplane.decide.alerting.conditions import AlertsSeen, Since, alerts
from controlplane.decide.scaling.inputs import ScalingMemory, ScalingSeen
from controlplane.domain.alerts import Alert
from controlplane.domain.quantities import Micros, ModelName
from controlplane.loops.fleet import Fleet
from controlplane.ports import Leadership


class Tells(Protocol):
    """Takes what holds now."""

    def __call__(self, alerts: Iterable[Alert], /) -> None:
        """Replace what held before."""
        ...


def _no_breakers() -> Mapping[ModelName, str]:
    return {}


def _no_costs() -> Mapping[ModelName, Micros]:
    return {}


class Alerting:
    """Derives alerts from looks."""

    def __init__(
        self,
        fleet: Fleet,
        leadership: Leadership,
        tell: Tells,
        breakers: Callable[[], Mapping[ModelName, str]] = _no_breakers,
        spent: Callable[[], Mapping[ModelName, Micros]] = _no_costs,
    ) -> None:
        """Tell `tell`; `breakers` names the open ones and why, `spent` what today cost so far."""
        self._fleet = fleet
        self._leadership = leadership
        self._tell = tell
        self._breakers = breakers
        self._spent = spent
        self._since: Since = {}
        self.standing: tuple[Alert, ...] = ()

    def note(self, look: ScalingSeen, memory: ScalingMemory) -> None:
        """Take scaling's look, and what it remembers."""
        seen = AlertsSeen(
            at=look.at,
            view=look.view,
            loads=look.loads,
            plan=self._fleet.in_force.plan,
            short={name: of.short for name, of in memory.models.items() if of.short},
            breakers=self._breakers(),
            spent=self._spent(),
        )
        self.standing, self._since = alerts(seen, self._fleet.catalogue, self._since)
        if self._leadership.leading:
            self._tell(self.standing)
