"""The front door requests come through, to be shown: a gateway of this daemon, or the world's."""

from typing import Protocol

from controlplane.domain.queues import Queues


class QueueReads(Protocol):
    """Who waits, and what became of those who came."""

    async def queues(self) -> Queues | None:
        """Give every model's front door; None where requests pass this daemon by."""
        ...
