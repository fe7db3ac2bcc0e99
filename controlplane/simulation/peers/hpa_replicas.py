"""How many replicas Kubernetes' HPA (autoscaling/v2) wants for one metric, before any limit."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import ceil

TOLERANCE = 0.1  # both ways, inclusive


class PodGroup(Enum):
    """What the HPA makes of a pod when it counts for a Pods metric."""

    IGNORED = "being deleted, or failed"
    UNREADY = "pending"
    MISSING = "running, but without a metric"
    READY = "with a metric"


@dataclass(frozen=True, slots=True)
class PodReading:
    """One pod: its group, and its metric where it has one."""

    group: PodGroup
    value: float = 0.0


def within(ratio: float, tolerance: float = TOLERANCE) -> bool:
    """Say whether a ratio is too near to 1 to act on."""
    return 1 - tolerance <= ratio <= 1 + tolerance


def external_average(usage: float, target: float, status_replicas: int) -> int:
    """External metric, AverageValue: `usage` over all pods, ready or not."""
    if status_replicas and within(usage / (target * status_replicas)):
        return status_replicas
    return ceil(usage / target)


def external_value(usage: float, target: float, current: int, ready: int) -> int:
    """External metric, Value: the ratio is taken times the ready pods only.

    With pods that start slowly this may lie below `current` although the ratio is above 1.
    """
    ratio = usage / target
    if current == 0:
        return ceil(ratio)
    return current if within(ratio) else ceil(ratio * ready)


def pods_average(pods: Sequence[PodReading], target: float, current: int) -> int | None:
    """Pods metric, AverageValue; None when not one pod has a metric (the HPA then holds)."""
    ready = [pod.value for pod in pods if pod.group is PodGroup.READY]
    missing = sum(pod.group is PodGroup.MISSING for pod in pods)
    unready = sum(pod.group is PodGroup.UNREADY for pod in pods)
    if not ready:
        return None
    ratio = sum(ready) / len(ready) / target
    rising_with_unready = unready > 0 and ratio > 1
    if not missing and not rising_with_unready:
        return current if within(ratio) else ceil(ratio * len(ready))
    # Pods that say nothing are taken to need what argues against a change.
    assumed = _assumed_missing(ratio, target, missing)
    if rising_with_unready:
        assumed.extend([0.0] * unready)
    values = [*ready, *assumed]
    return _damped(ratio, sum(values) / len(values) / target, len(values), current)


def _assumed_missing(ratio: float, target: float, missing: int) -> list[float]:
    if ratio < 1:
        return [target] * missing
    return [0.0] * missing if ratio > 1 else []


def _damped(before: float, after: float, pods: int, current: int) -> int:
    """Take the ratio with the assumptions, unless they turned its direction round."""
    turned = (before < 1 < after) or (after < 1 < before)
    if within(after) or turned:
        return current
    wanted = ceil(after * pods)
    against = (after < 1 and wanted > current) or (after > 1 and wanted < current)
    return current if against else wanted
