"""The front door of the painted fleet: what it would have counted, and where its breakers stand."""

from collections.abc import Mapping, Sequence

from controlplane.decide.breakers.answers import Meaning
from controlplane.decide.breakers.breaker import CLOSED, Breaker, State
from controlplane.decide.breakers.happenings import (
    Asked,
    BreakerSeen,
    Ends,
    ProbeEnded,
    choice,
    step,
)
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice
from controlplane.domain.gateway import GatewayPlan, ServedModel
from controlplane.domain.load import ModelLoad
from controlplane.domain.policies import BreakerPolicy
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import ModelName
from controlplane.domain.queues import ClassQueue, ModelQueue, Passed, Queues
from controlplane.domain.reasons import ReasonCode
from controlplane.domain.samples import number
from controlplane.ports import BreakersView, ClusterSettings
from controlplane.render.envoy.clusters import clusters
from controlplane.render.envoy.settled import written
from tests.browser.nodes import NOW

LATELY_S = 60.0
HOT = ModelName("chat-70b")


class PaintedDoor:
    """Implements `QueueReads`."""

    def __init__(self, catalogue: Catalogue, loads: Mapping[ModelName, ModelLoad]) -> None:
        """Take the last loads that were painted."""
        self._queues: Queues = {
            name: _queue(name, catalogue.models[name].policy.admission.queue_bounds, load)
            for name, load in loads.items()
        }

    async def queues(self) -> Queues | None:
        """Give the painted queues."""
        return self._queues


def _queue(name: ModelName, bounds: Mapping[Priority, int], load: ModelLoad) -> ModelQueue:
    ready = 4 if name == HOT else 2
    return ModelQueue(
        at=NOW - 0.4,
        since=NOW - 7_200.0,
        lately_s=LATELY_S,
        slots=16 * ready,
        lent=8 if name == HOT else 0,
        ready=ready,
        classes={p: _class(name, p, load, bounds[p]) for p in PRIORITIES},
    )


def _class(name: ModelName, priority: Priority, load: ModelLoad, bound: int) -> ClassQueue:
    of_class = load.classes[priority]
    waiting = min(bound, round(number(of_class.queue) or 0.0))
    arrived = round((number(of_class.arrivals) or 0.0) * LATELY_S)
    low_of_hot = name == HOT and priority is Priority.LOW
    refused = {ReasonCode.QUEUE_FULL: 41, ReasonCode.DEADLINE_PASSED: 2} if low_of_hot else {}
    gone = sum(refused.values()) + waiting
    lately = Passed(
        arrived=arrived,
        admitted=max(0, arrived - gone),
        aged=3 if low_of_hot else 0,
        minimum=1 if low_of_hot else 0,
        left=4 if name == HOT and priority is Priority.MEDIUM else 0,
        refused=refused,
    )
    return ClassQueue(
        waiting=waiting,
        oldest_s=17.3 if low_of_hot else (number(of_class.wait_p99) or 0.0) if waiting else 0.0,
        in_flight=20 if name == HOT else 7 if arrived else 0,
        lately=lately,
        counted=lately,
        tenants={"batch": waiting - 12, "search": 12} if low_of_hot else {},
    )


class PaintedGuard:
    """Implements `BreakerReads`: one breaker open, one that counts, one probed."""

    states: Mapping[ModelName, Breaker] = {
        ModelName("whisper-l3"): Breaker(
            state=State.OPEN, since=NOW - 34.0, opened=2, until=NOW + 26.0
        ),
        ModelName("legal-ft"): Breaker(failures=3, since=NOW - 5_400.0),
        ModelName("sdxl-ft"): Breaker(
            state=State.HALF_OPEN, since=NOW - 2.0, opened=1, until=NOW + 58.0
        ),
    }

    async def breakers(self) -> BreakersView | None:
        """Give where they stand."""
        return BreakersView(at=NOW, counts=True, states=self.states)

    async def ejected(self) -> Mapping[ModelName, int] | None:
        """Leave one replica of one model alone."""
        return {HOT: 1}

    async def settings(self, model: ModelName) -> Sequence[ClusterSettings] | None:
        """Render what the balancer is told; what it runs with is a change behind."""
        plan = GatewayPlan(models=(ServedModel(name=model),))
        rendered = written(clusters(plan, "/var/lib/controlplane/gateway")[0])
        live = rendered.replace('"connect_timeout": "2s"', '"connect_timeout": "5s"')
        return [
            ClusterSettings(name=model, rendered=rendered, live=live if model == HOT else rendered)
        ]


def changes() -> Sequence[tuple[float, Choice]]:
    """Decide, with the real rules, how the open breaker came to be open."""
    name, policy = ModelName("whisper-l3"), BreakerPolicy()
    breaker, made = CLOSED, list[tuple[float, Choice]]()
    for at, what in (
        (NOW - 66.0, Ends("wwbbbbb")),
        (NOW - 35.0, Asked()),
        (NOW - 34.0, ProbeEnded(Meaning.BROKEN)),
    ):
        seen = BreakerSeen(at=at, model=name, before=breaker, policy=policy, happened=what)
        taken = step(seen)
        breaker = taken.breaker
        made.append((at, choice(seen, taken)))
    return made
