"""What the page of queues draws: one row a model and class."""

from collections.abc import Mapping

import msgspec

from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import ReasonCode
from controlplane.http.reads.figures import Figure


class QueueRow(msgspec.Struct, frozen=True, kw_only=True):
    """One class at one model's front door. What nobody counts says so."""

    model: str
    team: str
    importance: int
    priority: str
    waiting: Figure  # against the bound of its queue
    longest_wait: Figure  # of those that wait now, against what is promised
    wait_p99: Figure  # against what is promised
    in_flight: Figure  # slots held, against those the class may hold
    arrivals: Figure
    admitted: Figure  # per second, lately
    aged: Figure  # lately: one class higher, for they had waited long
    minimum: Figure  # lately: by minimum service
    left: Figure  # lately: clients that went away while they waited
    refused: Figure  # lately, for whatever reason
    refused_by: Mapping[ReasonCode, int] = {}  # … by reason
    refused_before: Mapping[ReasonCode, int] = {}  # from `counted_since` on
    tenants: Mapping[str, int] = {}  # who waits, those with most requests first
    slots: int | None = None  # of the replicas in service
    lent: int | None = None  # further ones, of lending spares
    ready: int | None = None  # replicas that take requests
    held: int | None = None  # replicas in service that get nothing new
    lately_s: float | None = None  # how far back "lately" reaches
    counted_since: Instant | None = None
