"""The front doors of an embedded world, looked at about once a second of its time."""

from collections import deque
from collections.abc import Mapping

from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.queues import Queues
from controlplane.simulation.world.queues import Look, look, queue
from controlplane.simulation.world.station import Station

LOOK_EVERY_S = 1.0
LATELY_S = 60.0


class Doors:
    """Remembers what had been counted at each look of the last minute."""

    def __init__(self, since: Instant) -> None:
        """Counting began then, with the world."""
        self._since = since
        self._looks: dict[ModelName, deque[Look]] = {}
        self._noted = float("-inf")

    def note(self, stations: Mapping[ModelName, Station], now: Instant) -> None:
        """Look, unless the last look was a moment ago."""
        if now - self._noted < LOOK_EVERY_S:
            return
        self._noted = now
        self._looks = {name: self._looks.get(name) or deque() for name in stations}
        for name, looks in self._looks.items():
            looks.append(look(stations[name], now))
            while len(looks) > 1 and looks[1].at <= now - LATELY_S:
                looks.popleft()

    def queues(self, stations: Mapping[ModelName, Station], now: Instant) -> Queues:
        """Give how it is now, and since the oldest look that is remembered."""
        found = {}
        for name, station in stations.items():
            here = look(station, now)
            looks = self._looks.get(name)
            found[name] = queue(station, here, looks[0] if looks else here, self._since)
        return found
