"""What is worth waking a decider for."""

from enum import Enum


class News(Enum):
    """Something happened that changes what should be done."""

    TURNED_AWAY = "turned away"
    HEALTHY = "healthy"
    WARM = "warm"
    DRAINED = "drained"
    FAILED = "failed"
    UNSCHEDULABLE = "unschedulable"
