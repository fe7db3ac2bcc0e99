"""What people are told while it lasts: a condition of one subject, with the sentence about it."""

from enum import StrEnum

import msgspec

from controlplane.domain.quantities import Instant


class AlertName(StrEnum):
    """The conditions; a name is never changed, for routes and silences are written by it."""

    NO_DATA = "ControlplaneNoData"
    CLASS_SHORT = "ControlplaneClassShort"
    TARGET_UNREACHABLE = "ControlplaneTargetNotReached"
    BREAKER_OPEN = "ControlplaneBreakerOpen"
    OVER_BUDGET = "ControlplaneOverBudget"


class Key(msgspec.Struct, frozen=True, order=True):
    """What makes two alerts the same."""

    name: AlertName
    model: str
    what: str = ""  # e.g. the class that is short


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """A condition that holds."""

    key: Key
    since: Instant
    summary: str  # one sentence
    severity: str = "warning"

    @property
    def labels(self) -> dict[str, str]:
        """Give the labels by which receivers route, group and silence."""
        what = {"what": self.key.what} if self.key.what else {}
        return {
            "alertname": str(self.key.name),
            "model": self.key.model,
            "severity": self.severity,
            **what,
        }
