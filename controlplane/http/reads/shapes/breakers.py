"""What the page of breakers draws: one row a model."""

import msgspec

from controlplane.domain.quantities import Instant
from controlplane.http.reads.figures import Figure
from controlplane.http.reads.shapes.decisions import DecisionLine


class BreakerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A model's breaker. What nobody counts says so."""

    model: str
    team: str
    importance: int
    state: str | None  # closed, open, half-open, isolated; None: not known
    why: str | None = None  # … why not
    since: Instant | None = None  # None: it never changed since the door began to count
    failures: Figure  # broken answers in a row, against how many open it; no limit: it never opens
    opened: int | None = None  # times it opened since it was closed last
    probe_at: Instant | None = None  # open: when one request may probe it · half-open: probe lost
    next_open_s: float | None = None  # how long it would stay open the next time
    isolated_by: str | None = None
    isolated_at: Instant | None = None
    isolated_why: str = ""
    ejected: Figure  # replicas left alone now, against how many may be
    ejection_s: float | None  # how long a failing replica is left alone; None: none ever is
    recovery_s: float  # how long a replica that began anew needs to answer
    flaps: bool  # it is let in again before it can have recovered
    last: DecisionLine | None = None  # its last change


class ClusterRow(msgspec.Struct, frozen=True, kw_only=True):
    """The balancer's settings for a model's replicas: as rendered, and what runs differently."""

    name: str
    rendered: str
    live: str | None  # None: the balancer does not tell
    lines: tuple[str, ...] = ()  # from what runs to what is rendered; none where they are the same


class BreakerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What stands before a model's replicas."""

    model: str
    clusters: tuple[ClusterRow, ...]
    why: str | None = None  # why there are none
