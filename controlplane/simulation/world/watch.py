"""A front door seen from outside: counters read at each look, rates between looks, percentiles."""

from collections import deque
from collections.abc import Callable
from math import inf
from operator import attrgetter
from typing import NamedTuple

from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.samples import IDLE, NOT_YET, Absence, NoData, Sample, Value, Zero
from controlplane.simulation.world.book import WINDOW_S
from controlplane.simulation.world.recent import percentiles
from controlplane.simulation.world.station import Station

SHORTEST_S = 1.0  # a rate over less than this says nothing
NO_SLOTS = NoData(Absence.EMPTY, "no replica in service")
NOT_EXPORTED = NoData(Absence.NOT_EXPORTED)


class Reading(NamedTuple):
    """The counters at one look."""

    at: float
    arrived: tuple[int, ...]
    turned_away: tuple[int, ...]
    started: int
    service_s: float


class Watch:
    """What one model's gateway and engines export."""

    def __init__(self, station: Station, steady_s: float) -> None:
        """Begin watching at the world's start."""
        self._station = station
        self._readings = deque([self._read()])
        self.steady_s = steady_s

    def load(self, model: ModelName, at: Instant) -> ModelLoad:
        """Look now."""
        station = self._station
        station.book.count(station.source.index)
        now = self._read()
        last = self._before(now.at - SHORTEST_S)
        steady = self._before(now.at - self.steady_s)
        waits, latencies = percentiles(station.book, now.at, station.source.index)
        arrivals = _rates(last, now, at, ARRIVED)
        steadily = _rates(steady, now, at, ARRIVED)
        turned_away = _rates(last, now, at, TURNED_AWAY)
        classes = {}
        for rank, priority in enumerate(PRIORITIES):
            classes[priority] = ClassLoad(
                queue=_sample(station.admission.queued[rank], at),
                arrivals=arrivals[rank],
                arrivals_steady=steadily[rank],
                turned_away=turned_away[rank],
                wait_p99=_percentile(waits[rank], at),
                latency_p99=_percentile(latencies[rank], at),
            )
        self._keep(now)
        station.book.forget_before(now.at - WINDOW_S)
        return ModelLoad(
            model=model,
            at=at,
            classes=classes,
            in_flight=_sample(station.busy, at),
            service_s=self._service(steady or self._readings[0], now, at),
            kv_usage=self._kv_usage(at),
            vram=NOT_EXPORTED,
            utilisation=self._utilisation(at),
        )

    def _read(self) -> Reading:
        station = self._station
        book = station.book
        return Reading(
            station.now,
            tuple([c.arrived for c in book.by_rank]),
            tuple(book.turned_away),
            book.started,
            book.service_s,
        )

    def _before(self, moment: float) -> Reading | None:
        """Give the newest reading at or before a moment."""
        for reading in reversed(self._readings):
            if reading.at <= moment + 1e-9:
                return reading
        return None

    def _keep(self, now: Reading) -> None:
        readings = self._readings
        readings.append(now)
        while len(readings) > 2 and readings[1].at <= now.at - self.steady_s:
            readings.popleft()

    def _service(self, since: Reading, now: Reading, at: Instant) -> Sample:
        started = now.started - since.started
        return Value((now.service_s - since.service_s) / started, at) if started > 0 else IDLE

    def _utilisation(self, at: Instant) -> Sample:
        """Busy slots over slots of the replicas in service."""
        admission = self._station.admission
        if not admission.slots:
            return NO_SLOTS
        return _sample(min(1.0, (admission.slots - admission.free) / admission.slots), at)

    def _kv_usage(self, at: Instant) -> Sample:
        """Tokens of what runs over the room of the engines in service."""
        station = self._station
        if station.kv_room == inf or station.source.tokens is None:
            return NOT_EXPORTED
        if not station.slots.serving:
            return NO_SLOTS
        held = sum(station.tokens_on.get(slot, 0) for _, slot, *_ in station.slots.running if slot)
        return _sample(min(1.0, held / (station.kv_room * station.slots.serving)), at)


ARRIVED, TURNED_AWAY = attrgetter("arrived"), attrgetter("turned_away")


def _sample(figure: float, at: Instant) -> Sample:
    return Value(float(figure), at) if figure else Zero(at)


def _percentile(seconds: float | None, at: Instant) -> Sample:
    return IDLE if seconds is None else _sample(seconds, at)


def _rates(
    since: Reading | None,
    now: Reading,
    at: Instant,
    counters: Callable[[Reading], tuple[int, ...]],
) -> list[Sample]:
    """Give the counters' rates by rank between two readings."""
    if since is None or now.at <= since.at:
        return [NOT_YET for _ in PRIORITIES]
    before, after = counters(since), counters(now)
    if before == after:
        return [Zero(at)] * len(after)
    seconds = now.at - since.at
    return [_sample((b - a) / seconds, at) for a, b in zip(before, after, strict=True)]
