"""Running low requests that may be ended for waiting high ones; off unless people ask for it.

Who started last has lost least. Each waiting high request ends one low one, not more.
"""

import asyncio

from controlplane.domain.priorities import Priority
from controlplane.domain.reasons import ReasonCode
from controlplane.gateway.entry import Entry, Stage
from controlplane.gateway.refusals import refusal

AGAIN_S = 15


class Evictions:
    """The low requests that run, in the order they started."""

    def __init__(self) -> None:
        """Start with none, and without leave to end any."""
        self.on = False
        self._low: dict[Entry, None] = {}
        self._ending: set[Entry] = set()

    def started(self, entry: Entry) -> None:
        """Note a request that runs now."""
        if self.on and entry.asked.rank == Priority.LOW.rank:
            entry.evict = asyncio.get_running_loop().create_future()
            self._low[entry] = None

    def ended(self, entry: Entry) -> bool:
        """Forget it; say whether it was ended for another."""
        self._low.pop(entry, None)
        if entry not in self._ending:
            return False
        self._ending.discard(entry)
        return True

    def make_room(self, waiting_high: int) -> None:
        """End as many as high requests wait, those under way counted."""
        while self.on and self._low and len(self._ending) < waiting_high:
            entry, _ = self._low.popitem()
            if entry.evict is not None and entry.stage is Stage.RUNNING:
                self._ending.add(entry)
                entry.evict.set_result(refusal(ReasonCode.EVICTED, 429, retry_after_s=AGAIN_S))
