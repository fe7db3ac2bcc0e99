"""The metering loop: who held which device in the minutes that have passed, into the ledger."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from controlplane.decide.costs.crossing import crossed_gib
from controlplane.decide.costs.cycle import CostMemory, CostSeen, cycle, decide_metered, metered
from controlplane.domain.decisions import Choice, Ending, Outcome
from controlplane.domain.ledger import LedgerRow
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import Instant, Micros, ModelName
from controlplane.domain.samples import number
from controlplane.loops.fleet import Fleet
from controlplane.loops.reconcile import Loop
from controlplane.ports import CatalogueVersion, Ledger
from controlplane.telemetry.history import History
from controlplane.telemetry.metrics import Metrics

EVERY_S = 30.0


class Metering:
    """One fleet's meter."""

    def __init__(
        self,
        fleet: Fleet,
        ledger: Ledger,
        history: History,
        metrics: Metrics,
        version: Callable[[], CatalogueVersion],
    ) -> None:
        """Meter this fleet into this ledger."""
        self._fleet = fleet
        self._ledger = ledger
        self._history = history
        self._metrics = metrics
        self._version = version
        self._looked: Instant | None = None
        self._unwritten: tuple[LedgerRow, ...] = ()

    def loop(self) -> Loop[CostSeen, CostMemory]:
        """Build the loop."""
        return Loop(
            name="metering",
            every_s=EVERY_S,
            observe=self._observe,
            decide=self._decide,
            act=self._act,
            fresh=CostMemory(),
            subjects=lambda: len(self._fleet.catalogue.models),
        )

    async def _observe(self) -> CostSeen:
        now, version = self._fleet.clock.now(), self._version()
        view = await self._fleet.cluster.observe()
        since = 0.0 if self._looked is None else now - self._looked
        self._looked = now
        return CostSeen(
            at=now,
            view=view,
            billed_until=await self._ledger.billed_until(),
            catalogue_version=version.version,
            catalogue_since=version.at,
            crossed=crossed_gib(view, self._fleet.catalogue, served(self._history.loads, since)),
        )

    def _decide(self, seen: CostSeen, memory: CostMemory) -> tuple[Sequence[Choice], CostMemory]:
        rows, memory = cycle(seen, self._fleet.catalogue, self._fleet.table.devices, memory)
        self._unwritten = rows
        sum_of_rows = metered(rows)
        return ((decide_metered(sum_of_rows),) if sum_of_rows else ()), memory

    async def _act(self, _choice: Choice) -> Outcome:
        await self._ledger.write(self._unwritten)
        self._metrics.costs(hourly(self._unwritten))
        return Outcome(Ending.DONE, f"{len(self._unwritten)} rows")


def served(loads: Mapping[ModelName, ModelLoad], seconds: float) -> dict[ModelName, float]:
    """Estimate the requests each model served in so many seconds; what is unknown adds none."""
    return {
        name: seconds
        * sum(
            max(0.0, (number(c.arrivals) or 0.0) - (number(c.turned_away) or 0.0))
            for c in load.classes.values()
        )
        for name, load in loads.items()
    }


def hourly(rows: Sequence[LedgerRow]) -> dict[tuple[str, str], Micros]:
    """Give what an hour costs by model and kind, as the newest billed interval had it."""
    newest = max((row.end for row in rows), default=0.0)
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows:
        if row.end == newest and row.device >= 0:
            an_hour = row.micros * 3600.0 / (row.end - row.start)
            sums[str(row.model or ""), str(row.kind)] += an_hour
    return {key: Micros(round(amount)) for key, amount in sums.items()}
