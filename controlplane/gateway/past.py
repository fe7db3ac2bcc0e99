"""What all workers had counted at each of the last looks: what came lately lies between two."""

from collections import deque
from collections.abc import Callable

from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Instant, ModelName
from controlplane.gateway.counts import Tallies
from controlplane.gateway.tally import ClassTally

LOOK_EVERY_S = 0.9
REACH_S = 65.0
NOTHING = [ClassTally() for _ in PRIORITIES]


class Past:
    """Remembers sums of the last minute."""

    def __init__(self, sums: Callable[[], Tallies]) -> None:
        """Ask this for the sums since the beginning."""
        self._sums = sums
        self._looks: deque[tuple[Instant, Tallies]] = deque()
        self._news: Instant | None = None

    def note(self, now: Instant) -> None:
        """Remember how it is, about once a second."""
        if self._looks and now - self._looks[-1][0] < LOOK_EVERY_S:
            return
        self._news = None
        self._looks.append((now, self._sums()))
        while self._looks[0][0] < now - REACH_S:
            self._looks.popleft()

    def note_news(self, now: Instant) -> None:
        """Somebody is about to decide: the latest is how it is now, until the next look."""
        self._news = now

    @property
    def told(self) -> bool:
        """Say whether there are two looks, without which nothing is known of late."""
        return len(self._looks) > 1

    @property
    def latest(self) -> tuple[Instant, Tallies] | None:
        """Give the newest look; news before the first one has nothing to be compared with."""
        if self._news is not None and self._looks:
            return self._news, self._sums()
        return self._looks[-1] if self._looks else None

    def before(self, name: ModelName, at: Instant) -> tuple[Instant, list[ClassTally]]:
        """Give a model's newest look not younger than `at`, or the oldest there is."""
        found = self._looks[0]
        for look in self._looks:
            if look[0] > at:
                break
            found = look
        return found[0], found[1].get(name, NOTHING)
