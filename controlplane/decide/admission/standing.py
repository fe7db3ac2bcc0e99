"""How it stands at a front door: what may be asked of admission without changing anything."""

from collections.abc import Iterator, Sequence
from typing import Generic

from controlplane.decide.admission.capacity import SlotCount
from controlplane.decide.admission.limits import Limits
from controlplane.decide.admission.queues import Queues
from controlplane.decide.admission.verdicts import Request, Ticket
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.quantities import Instant

NEVER = 1 << 29  # more slots than anyone has


class Standing(SlotCount, Generic[Request]):
    """Slots, limits and queues, to look at."""

    __slots__ = ("_empty", "_queues", "limits", "patience")

    def __init__(self, policy: AdmissionPolicy) -> None:
        """Start with no slots and empty queues."""
        super().__init__()
        self.limits = Limits.of(policy)
        self.patience = self.limits.patience
        self._queues: Queues[Request] = Queues(self.limits)
        self._empty: Sequence[int] = ()  # what `at_once` gives where nobody waits

    @property
    def waiting(self) -> int:
        """How many wait, of all classes."""
        return self._queues.waiting

    @property
    def queued(self) -> Sequence[int]:
        """How many wait of each class, by rank."""
        return self._queues.queued

    @property
    def room(self) -> int:
        """How many must arrive at least before one of them finds its queue full."""
        bounds = zip(self.limits.bounds, self._queues.queued, strict=True)
        return min(NEVER, *(max(0, int(min(b, NEVER)) - q) for b, q in bounds))

    @property
    def at_once(self) -> Sequence[int] | None:
        """Give the free slots that `offer` leaves alone, by rank; None if anyone waits.

        While more are free, requests of one slot come and go and change nothing but the counts. So
        a caller may pass a stretch of them by itself, and tell `passed` what it came to.
        """
        return None if self._queues.waiting else self._empty

    def heads(self) -> Iterator[Ticket[Request]]:
        """Give the longest waiting of each class."""
        return self._queues.longest()

    def next_due(self, now: Instant) -> Instant:
        """Give the next instant at which `expire` or `poll` may have something to do."""
        return self._queues.next_due(now)
