"""What requests come through, if they come through this daemon: set when it is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from controlplane.domain.quantities import ModelName
from controlplane.domain.queues import Queues
from controlplane.ports import (
    BreakerReads,
    BreakersView,
    ClusterSettings,
    Gateways,
    QueueReads,
)


@dataclass(slots=True)
class FrontDoor:
    """Implements `QueueReads` and `BreakerReads` for whichever door there is."""

    counts: QueueReads | None = None
    guards: BreakerReads | None = None
    gateways: Gateways | None = None  # serves those that run elsewhere and join

    async def queues(self) -> Queues | None:
        """Give every model's front door; None where requests pass this daemon by."""
        return None if self.counts is None else await self.counts.queues()

    async def breakers(self) -> BreakersView | None:
        """Give where the breakers stand; None where requests pass this daemon by."""
        return None if self.guards is None else await self.guards.breakers()

    async def ejected(self) -> Mapping[ModelName, int] | None:
        """Count the replicas that are left alone now, for they failed; None: not known."""
        return None if self.guards is None else await self.guards.ejected()

    async def settings(self, model: ModelName) -> Sequence[ClusterSettings] | None:
        """Give the balancer's settings for a model; None where no balancer is ours."""
        return None if self.guards is None else await self.guards.settings(model)
