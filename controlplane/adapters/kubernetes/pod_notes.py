"""What a pod's status says: whether its engine runs, since which start, and what is wrong.

The reasons people know (OOMKilled, CrashLoopBackOff, ImagePullBackOff, the scheduler's sentence)
are given on as they are.
"""

from datetime import datetime

import msgspec

from controlplane.domain.quantities import Instant

MOST_LETTERS = 300

# Waiting for these is the normal way up; every other reason is worth reading.
_NORMAL = ("ContainerCreating", "PodInitializing", "")


class Running(msgspec.Struct, frozen=True, rename="camel"):
    """A container runs."""

    started_at: datetime | None = None


class Waiting(msgspec.Struct, frozen=True):
    """A container does not run yet, or not now."""

    reason: str = ""
    message: str = ""


class Ended(msgspec.Struct, frozen=True, rename="camel"):
    """A container came to its end."""

    reason: str = ""
    exit_code: int = 0
    message: str = ""


class ContainerState(msgspec.Struct, frozen=True):
    """One of the three."""

    running: Running | None = None
    waiting: Waiting | None = None
    terminated: Ended | None = None


class ContainerStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A container as it is."""

    name: str
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    restart_count: int = 0
    container_id: str = msgspec.field(default="", name="containerID")


class Condition(msgspec.Struct, frozen=True, rename="camel"):
    """One condition."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


class Spoken(msgspec.Struct, frozen=True, rename="camel"):
    """A pod's status as it is sent."""

    phase: str = "Pending"
    pod_ip: str = msgspec.field(default="", name="podIP")
    reason: str = ""
    message: str = ""
    conditions: list[Condition] = []
    container_statuses: list[ContainerStatus] = []
    init_container_statuses: list[ContainerStatus] = []


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of it."""

    ready: bool
    started: str
    pulling: bool
    stuck: bool
    note: str
    unschedulable_since: Instant | None


_ABSENT = ContainerStatus("")


def spoken(status: Spoken, engine: str) -> Said:
    """Read a status."""
    of = {condition.type: condition for condition in status.conditions}
    container = next((c for c in status.container_statuses if c.name == engine), _ABSENT)
    placed, ready = of.get("PodScheduled"), of.get("Ready")
    refused = placed if placed is not None and placed.status == "False" else None
    since = None
    if refused is not None and refused.reason == "Unschedulable":
        at = refused.last_transition_time
        since = at.timestamp() if at else None
    return Said(
        ready=ready is not None and ready.status == "True",
        started=started(container),
        pulling=container.state.running is None and container.state.terminated is None,
        stuck=container.state.terminated is not None
        or any(_stuck(c) for c in (container, *status.init_container_statuses)),
        note=_note(status, refused, container)[:MOST_LETTERS],
        unschedulable_since=since,
    )


def started(container: ContainerStatus) -> str:
    """Name this start of a container, so that a restarted engine is known to be another."""
    running = container.state.running
    if running is None:
        return ""
    at = running.started_at.isoformat() if running.started_at else ""
    return f"{container.restart_count}@{at}/{container.container_id[-12:]}"


def _note(status: Spoken, refused: Condition | None, container: ContainerStatus) -> str:
    """Say what is wrong, if anything is."""
    if refused is not None:
        return refused.message or refused.reason
    if status.phase == "Failed":
        why = ": ".join(part for part in (status.reason, status.message) if part)
        return why or _ended(container.state.terminated) or "Failed"
    stuck = next((c for c in (container, *status.init_container_statuses) if _stuck(c)), None)
    if stuck is not None and stuck.state.waiting is not None:
        return _waiting(stuck, stuck.state.waiting)
    if container.state.terminated is not None:
        return _ended(container.state.terminated)
    before = container.last_state.terminated
    if before is not None and container.restart_count:
        return f"{_ended(before)}, {_restarts(container)}"
    return ""


def _stuck(container: ContainerStatus) -> bool:
    waiting = container.state.waiting
    return waiting is not None and waiting.reason not in _NORMAL


def _waiting(container: ContainerStatus, waiting: Waiting) -> str:
    """Say for what it waits, and what ended it before, which the reason alone does not tell."""
    before = container.last_state.terminated
    if before is not None:
        return f"{waiting.reason} after {_ended(before)}, {_restarts(container)}"
    return f"{waiting.reason}: {waiting.message}" if waiting.message else waiting.reason


def _ended(ended: Ended | None) -> str:
    if ended is None:
        return ""
    return f"{ended.reason or 'ended'} (exit code {ended.exit_code})"


def _restarts(container: ContainerStatus) -> str:
    count = container.restart_count
    return "restarted once" if count == 1 else f"restarted {count} times"
