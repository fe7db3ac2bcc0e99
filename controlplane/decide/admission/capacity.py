"""How many slots a model has, whose they are, and how many are free. Counts, not places.

Which endpoint serves a request is the balancer's choice; admission only sees to it that no more
run than there are slots.
"""

from collections.abc import Sequence
from enum import Enum

from controlplane.domain.priorities import PRIORITIES


class Pool(Enum):
    """Whose slots a running request holds."""

    SERVING = "serving"  # of the replicas in service: what K counts
    LENT = "lent"  # of lending spares: for low alone
    OUTSIDE = "outside"  # of replicas that take nothing new any more


# Looking an enum member up costs more than all the rest of admitting a request.
SERVING, LENT = Pool.SERVING, Pool.LENT


class SlotCount:
    """The counters."""

    __slots__ = ("free", "in_flight", "lent", "lent_free", "slots")

    def __init__(self) -> None:
        """Start with no slots."""
        self.slots = 0  # K: ready replicas x slots
        self.free = 0  # below 0 while more runs than K, after K fell
        self.lent = 0
        self.lent_free = 0
        self.in_flight = [0 for _ in PRIORITIES]  # slots each class holds, lent ones included

    def resize(self, slots: int, lent: int) -> None:
        """Set how many there are; what runs keeps running."""
        self.free += slots - self.slots
        self.lent_free += lent - self.lent
        self.slots, self.lent = slots, lent

    def count(self, rank: int, weight: int, pool: Pool) -> None:
        """Count so many slots more (or fewer) as held by a class; outside ones are nobody's."""
        if pool is SERVING:
            self.free -= weight
            self.in_flight[rank] += weight
        elif pool is LENT:
            self.lent_free -= weight
            self.in_flight[rank] += weight

    def passed(self, held: Sequence[int]) -> None:
        """Count what a stretch of requests left behind that came while nobody waited.

        `held` is the change of the slots each class holds, in service, by rank.
        """
        for rank, more in enumerate(held):
            self.in_flight[rank] += more
            self.free -= more

    def rehome(self, rank: int, weight: int, source: Pool, target: Pool) -> None:
        """Count a running request's slots elsewhere: its replica drains, or a lender is promoted.

        Call it before the `capacity` that takes those slots away or adds them.
        """
        self.count(rank, -weight, source)
        self.count(rank, weight, target)
