"""An engine: the slots of one replica, and the law of its first requests.

Law: an engine that has not been warmed up answers its first 100 requests slower, the first one
3 times as slow, falling in a straight line to 2 times at the hundredth; from then on at full speed.
Requests of a warm-up batch count as well, so a batch of 100 takes the whole penalty on itself.
"""

from collections import deque

from controlplane.domain.quantities import ReplicaName

FIRST_REQUESTS = 100
SLOWEST, LEAST_SLOW = 3.0, 2.0


def slowdown(answered: int) -> float:
    """Say how many times slower the next request is after so many were answered."""
    if answered >= FIRST_REQUESTS:
        return 1.0
    return SLOWEST - (SLOWEST - LEAST_SLOW) * answered / FIRST_REQUESTS


def batch_s(requests: int, answered: int, slots: int, request_s: float) -> float:
    """Give the time a batch takes on an engine that works at `slots` requests at once."""
    work = sum(slowdown(answered + n) for n in range(requests)) * request_s
    return work / min(slots, max(requests, 1))


class Engine:
    """The slots of one replica. `pace` is its speed against the model's fastest variant."""

    __slots__ = ("answered", "idle", "pace", "replica", "slots")

    def __init__(self, replica: ReplicaName, slots: list[int], pace: float) -> None:
        """Start with all slots idle and outside service."""
        self.replica = replica
        self.slots = slots  # their numbers at the front door
        self.idle = deque(slots)  # those free while the engine is not in service
        self.pace = pace
        self.answered = 0

    @property
    def plain(self) -> bool:
        """Say whether a request takes here just what the traffic says."""
        return self.answered >= FIRST_REQUESTS and self.pace == 1.0

    def seconds(self, service_s: float) -> float:
        """Give the time the next request takes here, and count it."""
        slow = slowdown(self.answered)
        self.answered += 1
        return service_s * self.pace * slow
