"""A fleet as an on-call engineer might find it, painted once: the same pages every time.

Replicas and loads are painted, decisions are taken by the real rules on them, stores are the ones
in memory. So every figure on a page is one the product computed.
"""

from collections import Counter
from math import sin
from pathlib import Path

from controlplane.clock import Clock
from controlplane.decide.replay import decide_again
from controlplane.decide.scaling.cycle import cycle
from controlplane.decide.scaling.inputs import ScalingMemory, ScalingSeen
from controlplane.decide.scaling.variants import VariantTable, variants
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import DONE, Standing
from controlplane.domain.fleet import FleetView
from controlplane.domain.forecasts import Forecast
from controlplane.domain.load import ClassLoad, ModelLoad
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import ModelName
from controlplane.domain.replicas import Lane
from controlplane.domain.samples import Sample, Value, Zero, number
from controlplane.http.door import FrontDoor
from controlplane.http.state import CatalogueInForce, State
from controlplane.loops.in_memory import (
    MemoryAuditLog,
    MemoryCatalogues,
    MemoryJournal,
    MemoryLedger,
    MemoryOverrides,
    MemoryTokens,
    SoleLeader,
)
from controlplane.settings import parse_catalogue
from controlplane.telemetry.heartbeats import Heartbeats
from controlplane.telemetry.history import History, Point
from tests.browser.bill import bill
from tests.browser.doors import PaintedDoor, PaintedGuard, changes
from tests.browser.nodes import NOW, view
from tests.browser.runs import PaintedRuns

FILE = Path(__file__).with_name("fleet.yaml")
STEPS, STEP_S = 240, 5.0

RATES = {  # requests per second in quiet times; how much more at the end
    "chat-70b": (6.2, 1.9),
    "sdxl": (1.6, 0.1),
    "whisper-l3": (4.4, 0.9),
    "resnet-152": (420.0, 0.1),
    "legal-ft": (3.6, 0.2),
    "support-ft": (7.4, 0.15),
    "sdxl-ft": (0.3, 0.0),
}
SHARES = {Priority.HIGH: 0.5, Priority.MEDIUM: 0.3, Priority.LOW: 0.2}


class StillClock(Clock):
    """A clock that stands at the moment the scene was painted, until it is moved."""

    def __init__(self) -> None:
        """Stand still."""
        super().__init__()
        self.at = NOW

    def now(self) -> float:
        """Give the painted moment."""
        return self.at


def load(catalogue: Catalogue, name: ModelName, step: int, at: float) -> ModelLoad:
    """Paint a model's samples at one step of the last twenty minutes."""
    model = catalogue.models[name]
    quiet, more = RATES[name]
    end = max(0.0, (step - STEPS + 46) / 46)
    wave = 1 + 0.06 * sin(step / 9 + len(name)) + 0.03 * sin(step / 2.3)
    rate = quiet * wave * (1 + more * end)
    shown = {p: share for p, share in SHARES.items() if p in model.policy.objectives}
    whole = sum(shown.values())
    hot = name == "chat-70b"
    queue = 430 * end**2 if hot else 9 * end if name == "whisper-l3" else 0.0
    classes: dict[Priority, ClassLoad] = {}
    for priority in PRIORITIES:
        if priority not in shown:
            classes[priority] = ClassLoad(
                queue=Zero(at), arrivals=Zero(at), arrivals_steady=Zero(at), turned_away=Zero(at)
            )
            continue
        part = shown[priority] / whole
        limit = model.policy.objectives[priority].wait_p99_s
        wait = limit * (0.08 + 0.05 * (1 + sin(step / 7)) + (0.54 * end if hot else 0))
        if name == "whisper-l3":
            wait = limit * (0.1 + 1.6 * end)
        classes[priority] = ClassLoad(
            queue=_some(round(queue * part), at),
            arrivals=_some(rate * part, at),
            arrivals_steady=_some(quiet * wave * part, at),
            turned_away=Zero(at),
            wait_p99=_some(wait, at),
            latency_p99=_some(wait + 1.2, at),
        )
    used = {"chat-70b": 0.61 + 0.27 * end, "sdxl": 0.71, "support-ft": 0.79}.get(name, 0.55)
    return ModelLoad(
        model=name,
        at=at,
        classes=classes,
        in_flight=_some(rate * 2, at),
        kv_usage=_some(used + 0.01 * sin(step / 5), at),
        utilisation=_some(0.6 + 0.25 * end, at),
    )


async def painted_state() -> State:
    """Paint the whole state."""
    text = FILE.read_text()
    catalogue = parse_catalogue(text, "fleet.yaml")
    catalogues = MemoryCatalogues()
    older = text.replace("max: 12", "max: 10").replace("21.40", "22.00")
    await catalogues.add(older, "fleet.yaml", "local", NOW - 90_000)
    version = await catalogues.add(text, "fleet.yaml", "mei", NOW - 8_000)
    audit = MemoryAuditLog()
    journal = MemoryJournal("embedded-1")
    ledger = MemoryLedger()
    history = History()
    await _live_a_while(catalogue, journal, history)
    for at, change in changes():
        for row in await journal.open("breakers", [change], at, 2):
            if row is not None:
                await journal.close(row, DONE, at)
    await ledger.write(bill(catalogue))
    heartbeats = Heartbeats()
    return State(
        clock=StillClock(),
        world="embedded-1",
        cluster="gpu-prod-1",
        acting=True,
        leadership=SoleLeader("cp-0"),
        history=history,
        heartbeats=heartbeats,
        door=FrontDoor(PaintedDoor(catalogue, history.loads), PaintedGuard()),
        in_force=CatalogueInForce(catalogue, version),
        decisions=journal,
        replay=decide_again,
        ledger=ledger,
        overrides=MemoryOverrides(audit),
        catalogues=catalogues,
        tokens=MemoryTokens(),
        audit=audit,
        whatif=PaintedRuns(),
        validate=parse_catalogue,
        apply_catalogue=lambda new, source, by: catalogues.add(new, source, by, NOW),
        scenarios={
            "seed-000": "Two hours, two bursts of low; one 70B chat model",
            "azure-conv": "Azure LLM inference trace 2024, conversations",
        },
        policies=("controlplane", "controlplane:saving", "controlplane:service", "static:4"),
    )


async def _live_a_while(catalogue: Catalogue, journal: MemoryJournal, history: History) -> None:
    table = variants(catalogue)
    memory = ScalingMemory()
    for step in range(STEPS + 1):
        at = NOW - 1.2 - (STEPS - step) * STEP_S
        looked = view(at)
        loads = {name: load(catalogue, name, step, at) for name in catalogue.models}
        seen = ScalingSeen(at=at, view=looked, loads=loads)
        choices, memory = cycle(seen, catalogue, table, memory)
        for row in await journal.open("scaling", choices, at, 2):
            if row is not None:
                await journal.close(row, DONE, at + 0.11)
        history.view, history.loads = looked, loads
        for name in catalogue.models:
            target = memory.models[name].target or 0
            history.add(name, _point(catalogue, table, name, loads[name], looked, target))
    history.plan = {
        name: Standing(
            replicas=kept.target or 0,
            split=dict(kept.split),
            since=kept.since,
            importance=catalogue.models[name].importance,
        )
        for name, kept in memory.models.items()
    }


def _point(
    catalogue: Catalogue,
    table: VariantTable,
    name: ModelName,
    seen: ModelLoad,
    looked: FleetView,
    target: int,
) -> Point:
    lanes = Counter[str](replica.lane for replica in looked.replicas if replica.model == name)
    fact = table.facts[name][0]
    queue = sum(number(c.queue) or 0.0 for c in seen.classes.values())
    rate = sum(number(c.arrivals) or 0.0 for c in seen.classes.values())
    shown = catalogue.models[name].policy.objectives
    serving = max(lanes[Lane.SERVING], 1)
    return Point(
        at=seen.at,
        arrivals={p: number(c.arrivals) for p, c in seen.classes.items() if p in shown},
        queue={p: number(c.queue) for p, c in seen.classes.items() if p in shown},
        wait_p99={p: number(c.wait_p99) for p, c in seen.classes.items() if p in shown},
        latency_p99={p: number(c.latency_p99) for p, c in seen.classes.items() if p in shown},
        drain_s=queue * fact.service_s / (serving * fact.slots),
        memory=number(seen.kv_usage),
        utilisation=number(seen.utilisation),
        lanes=lanes,
        target=target,
        forecasts=(
            Forecast(
                at=seen.at,
                horizon_s=60.0,
                expert="mean of 5",
                rate=rate * 0.98,
                low=rate * 0.9,
                high=rate * 1.08,
                error=0.4,
            ),
        ),
    )


def _some(x: float, at: float) -> Sample:
    return Value(x, at) if x else Zero(at)
