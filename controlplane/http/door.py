"""What requests come through, if they come through this daemon: set when it is there."""

from dataclasses import dataclass

from controlplane.domain.queues import Queues
from controlplane.ports import QueueReads


@dataclass(slots=True)
class FrontDoor:
    """Implements `QueueReads` for whichever door there is."""

    counts: QueueReads | None = None

    async def queues(self) -> Queues | None:
        """Give every model's front door; None where requests pass this daemon by."""
        return None if self.counts is None else await self.counts.queues()
