"""The slots behind one front door: whose they are, which are free, what runs on them until when.

A slot's home is the queue it returns to when its request ends: the free slots in service, the lent
ones, or its engine's own idle ones. Taking an engine into or out of service only changes homes, so
draining, lending and promotion cost the loop nothing.
"""

from collections import deque
from collections.abc import Sequence
from heapq import heapify
from math import inf
from typing import Any, TypeAlias

from controlplane.decide.admission.admission import Admission
from controlplane.decide.admission.capacity import Pool
from controlplane.decide.admission.verdicts import Ticket
from controlplane.domain.quantities import ReplicaName
from controlplane.simulation.world.engines import Engine

Run: TypeAlias = tuple[float, int, int, float, float]  # end, slot, rank, arrived, started
Home: TypeAlias = "deque[int]"

TIMER = 0  # the slot number of what is no request but a call to look at the queue
END_OF_TIME: Run = (inf, TIMER, 0, 0.0, 0.0)  # so that the heap is never empty
PART = -1.0  # "arrived" of the further slots of a request that holds several


class Slots:
    """The slots of one model's engines."""

    def __init__(self, admission: Admission[Any]) -> None:
        """Start with none."""
        self._admission = admission
        self.service_s = 1.0  # of a request, as far as the catalogue knows
        self.running: list[Run] = [END_OF_TIME]  # a heap
        self.free: Home = deque()
        self.lent: Home = deque()
        self.homes: list[Home] = [deque()]  # by slot
        self.engine_of: list[Engine | None] = [None]  # by slot
        self.odd: dict[int, Engine] = {}  # slots of engines that are not plain
        self._vacant: list[int] = []  # slot numbers of engines that are gone
        self._serving: dict[ReplicaName, Engine] = {}
        self._lending: dict[ReplicaName, int] = {}

    @property
    def serving(self) -> int:
        """How many engines are in service."""
        return len(self._serving)

    def install(self, replica: ReplicaName, count: int, pace: float) -> Engine:
        """Give a new engine its slots; it serves nobody yet."""
        numbers = [self._vacant.pop() for _ in range(min(count, len(self._vacant)))]
        more = count - len(numbers)
        numbers += range(len(self.homes), len(self.homes) + more)
        self.homes += [self.homes[TIMER]] * more
        self.engine_of += [None] * more
        engine = Engine(replica, sorted(numbers), pace)
        for slot in numbers:
            self.homes[slot], self.engine_of[slot] = engine.idle, engine
        return engine

    def place(
        self, now: float, engine: Engine, *, serving: bool = False, lent: int = 0
    ) -> Sequence[Ticket[Any]]:
        """Put an engine into service, lend part of it, or (neither) take it out; it keeps running.

        Gives the tickets that got a slot by it.
        """
        busy = self.busy(engine)
        # What is lent already stays lent, then the idle ones are lent first.
        order = sorted(engine.slots, key=lambda s: (self.homes[s] is not self.lent, s in busy))
        for n, slot in enumerate(order):
            home = self.free if serving else self.lent if n < lent else engine.idle
            self._move(slot, home, busy.get(slot))
        self._serving.pop(engine.replica, None)
        self._lending.pop(engine.replica, None)
        if serving:
            self._serving[engine.replica] = engine
        elif lent:
            self._lending[engine.replica] = lent
        self.note_pace(engine)
        return self._recount(now)

    def cut(self, engine: Engine) -> list[Run]:
        """Take what runs on an engine that is out of service off its slots, and give it."""
        cut = [run for run in self.running if run[1] and self.engine_of[run[1]] is engine]
        if cut:
            self.running[:] = [
                run for run in self.running if not run[1] or self.engine_of[run[1]] is not engine
            ]
            heapify(self.running)
            engine.idle.extend(run[1] for run in cut)
        return cut

    def split(self) -> tuple[list[Run], list[Run]]:
        """Give what runs on slots in service, in order of end, and what else is in the heap."""
        homes, free = self.homes, self.free
        runs = [run for run in self.running if homes[run[1]] is free]
        aside = [run for run in self.running if homes[run[1]] is not free]
        runs.sort()
        return runs, aside

    def go_on(self, running: list[Run], free: list[int]) -> None:
        """Go on with this in the heap and these slots free in service, in this order."""
        self.running[:] = running
        heapify(self.running)
        self.free.clear()
        self.free.extend(free)

    def remove(self, engine: Engine) -> None:
        """Forget an engine that is out of service and does nothing."""
        for slot in engine.slots:
            self.homes[slot], self.engine_of[slot] = self.homes[TIMER], None
        self._vacant += engine.slots

    def paced(self, slot: int, service_s: float) -> float:
        """Give the time a request takes on this slot, which may be of a slower engine."""
        engine = self.odd.get(slot)
        if engine is None:
            return service_s
        service_s = engine.seconds(service_s)
        if engine.plain:
            self.note_pace(engine)
        return service_s

    def busy(self, engine: Engine) -> dict[int, int]:
        """Give the ranks of the requests an engine is at, by slot."""
        return {
            slot: rank
            for _, slot, rank, _, _ in self.running
            if slot and self.engine_of[slot] is engine
        }

    def busy_until(self, engine: Engine) -> float:
        """Give when the last of its requests ends; `-inf` when it has none."""
        ends = (end for end, slot, *_ in self.running if slot and self.engine_of[slot] is engine)
        return max(ends, default=-inf)

    def in_flight(self) -> dict[ReplicaName, int]:
        """Count the busy slots of each replica that has any."""
        counts: dict[ReplicaName, int] = {}
        for _, slot, *_ in self.running:
            engine = self.engine_of[slot]
            if engine is not None:
                counts[engine.replica] = counts.get(engine.replica, 0) + 1
        return counts

    def _pool(self, home: Home) -> Pool:
        return (
            Pool.SERVING if home is self.free else Pool.LENT if home is self.lent else Pool.OUTSIDE
        )

    def _move(self, slot: int, home: Home, rank: int | None) -> None:
        """Let a slot belong elsewhere; `rank` of the request on it, if one is."""
        old = self.homes[slot]
        if old is home:
            return
        self.homes[slot] = home
        if rank is None:
            old.remove(slot)
            home.append(slot)
        else:
            self._admission.rehome(rank, 1, self._pool(old), self._pool(home))

    def note_pace(self, engine: Engine) -> None:
        """Keep the loop on its fast way unless an engine in use is slower than the traffic says."""
        in_use = engine.replica in self._serving or engine.replica in self._lending
        for slot in engine.slots:
            if in_use and not engine.plain:
                self.odd[slot] = engine
            else:
                self.odd.pop(slot, None)

    def _recount(self, now: float) -> Sequence[Ticket[Any]]:
        slots = sum(len(engine.slots) for engine in self._serving.values())
        return self._admission.capacity(
            now,
            ready=len(self._serving),
            slots=slots,
            lent=sum(self._lending.values()),
            service_s=self.service_s,
        )
