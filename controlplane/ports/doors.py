"""The front door requests come through, to be shown: a gateway of this daemon, or the world's."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from controlplane.decide.breakers.breaker import Breaker
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.queues import Queues


class BreakersView(msgspec.Struct, frozen=True, kw_only=True):
    """Where the breakers stand."""

    at: Instant
    counts: bool  # whether broken answers are counted; else only people isolate a model
    states: Mapping[ModelName, Breaker]


class ClusterSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the balancer treats a model's replicas: as we render it, and as it runs."""

    name: str  # of the cluster: a model's replicas in service, or its lending spares
    rendered: str
    live: str | None  # None: it does not tell


class QueueReads(Protocol):
    """Who waits, and what became of those who came."""

    async def queues(self) -> Queues | None:
        """Give every model's front door; None where requests pass this daemon by."""
        ...


class BreakerReads(Protocol):
    """What stands between a failing model and its callers."""

    async def breakers(self) -> BreakersView | None:
        """Give where the breakers stand; None where requests pass this daemon by."""
        ...

    async def ejected(self) -> Mapping[ModelName, int] | None:
        """Count the replicas that are left alone now, for they failed; None: not known."""
        ...

    async def settings(self, model: ModelName) -> Sequence[ClusterSettings] | None:
        """Give the balancer's settings for a model; None where no balancer is ours."""
        ...
