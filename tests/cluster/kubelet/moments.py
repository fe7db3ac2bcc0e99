"""Time as the Kubernetes API writes it."""

from datetime import UTC, datetime


def stamp(at: float) -> str:
    """Write a moment to the second."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def fine_stamp(at: float) -> str:
    """Write a moment to the microsecond, as leases have it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
