"""The three priority classes of requests, highest first."""

from enum import StrEnum


class Priority(StrEnum):
    """How urgent a request is. Comparisons go by `rank`, never by name."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 is the most urgent."""
        return RANK[self]


PRIORITIES = (Priority.HIGH, Priority.MEDIUM, Priority.LOW)
RANK = {priority: rank for rank, priority in enumerate(PRIORITIES)}
