"""The HPA as a peer: on busy slots per pod, or on a queue's length as KEDA feeds it one.

The controller syncs every 15 s. A Pods metric is what an adapter makes of scrapes, so readings are
averaged over the last 15 s; a queue's length is read as it is at the sync.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from controlplane.domain.actions import Action
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import Instant, ModelName, ReplicaName
from controlplane.domain.replicas import Phase, Replica
from controlplane.domain.samples import number
from controlplane.simulation.peers.fleet import Deployment, Sizes, by_name, pods, ready
from controlplane.simulation.peers.hpa_behavior import (
    Behavior,
    Bounds,
    HpaMemory,
    first_sight,
    normalised,
    rescaled,
)
from controlplane.simulation.peers.hpa_replicas import (
    PodGroup,
    PodReading,
    external_average,
    pods_average,
)
from controlplane.simulation.world import Observation

SYNC_S = 15.0
SCRAPE_S = 5.0


class Metric(Protocol):
    """Where an HPA's wish comes from."""

    def scrape(self, at: Instant, replicas: Sequence[Replica]) -> None:
        """Take a reading of every pod."""
        ...

    def wish(
        self, deployment: Deployment, current: int, replicas: Sequence[Replica], load: ModelLoad
    ) -> int | None:
        """Give the replicas wanted, None when the metric cannot be had."""
        ...


class BusySlots:
    """Pods metric, AverageValue: busy slots over slots, 0..1."""

    def __init__(self, target: float) -> None:
        """Aim at `target` per pod."""
        self._target = target
        self._readings: dict[ReplicaName, deque[tuple[Instant, float]]] = {}

    def scrape(self, at: Instant, replicas: Sequence[Replica]) -> None:
        """Keep 15 s of readings per pod that answers."""
        kept: dict[ReplicaName, deque[tuple[Instant, float]]] = {}
        for replica in replicas:
            busy = number(replica.in_flight) if ready(replica) else None
            if busy is None:
                continue
            readings = self._readings.get(replica.name) or deque()
            readings.append((at, busy))
            while readings[0][0] <= at - SYNC_S:
                readings.popleft()
            kept[replica.name] = readings
        self._readings = kept

    def wish(
        self, deployment: Deployment, current: int, replicas: Sequence[Replica], load: ModelLoad
    ) -> int | None:
        """Average the readings and follow the HPA's arithmetic."""
        del load
        return pods_average(
            [self._reading(replica, deployment.slots) for replica in replicas],
            self._target,
            current,
        )

    def _reading(self, replica: Replica, slots: int) -> PodReading:
        if replica.phase in (Phase.TERMINATING, Phase.FAILED):
            return PodReading(PodGroup.IGNORED)
        if replica.phase is Phase.PENDING:
            return PodReading(PodGroup.UNREADY)
        readings = self._readings.get(replica.name)
        if not readings:
            return PodReading(PodGroup.MISSING)
        mean = sum(busy for _, busy in readings) / len(readings)
        return PodReading(PodGroup.READY, mean / slots)


class QueueDepth:
    """External metric, AverageValue: waiting requests of all classes, per pod."""

    def __init__(self, target: float) -> None:
        """Aim at `target` waiting requests per pod."""
        self._target = target

    def scrape(self, at: Instant, replicas: Sequence[Replica]) -> None:
        """Read nothing from the pods."""

    def wish(
        self, deployment: Deployment, current: int, replicas: Sequence[Replica], load: ModelLoad
    ) -> int | None:
        """Divide the queue by the target."""
        del deployment, current
        depths = [number(of_class.queue) for of_class in load.classes.values()]
        known = [depth for depth in depths if depth is not None]
        if len(known) < len(depths):
            return None
        return external_average(sum(known), self._target, pods(replicas))


class Hpa:
    """HorizontalPodAutoscalers, one per model, all with default behavior."""

    period_s = SCRAPE_S
    wakes = False

    def __init__(
        self,
        metrics: Mapping[ModelName, Metric],
        deployments: Iterable[Deployment],
        behavior: Behavior | None = None,
    ) -> None:
        """Watch every Deployment with its metric."""
        self._metrics = metrics
        self._sizes = Sizes(deployments)
        self._behavior = behavior or Behavior()
        self._memories: dict[ModelName, HpaMemory] = {}
        self._next_sync: Instant | None = None

    @property
    def targets(self) -> Mapping[ModelName, int]:
        """Replicas wanted in service."""
        return self._sizes.targets

    def cycle(self, seen: Observation) -> Sequence[Action]:
        """Scrape; sync when it is time."""
        now = seen.view.at
        grouped = by_name(self._sizes.deployments, seen.view.replicas)
        for model, metric in self._metrics.items():
            metric.scrape(now, grouped[model])
        if self._next_sync is None:
            self._next_sync = now
        if now < self._next_sync:
            return []
        self._next_sync += SYNC_S
        return [
            action
            for model in self._sizes.deployments
            for action in self._sync(now, model, grouped[model], seen.loads[model])
        ]

    def _sync(
        self, now: Instant, model: ModelName, replicas: Sequence[Replica], load: ModelLoad
    ) -> Sequence[Action]:
        deployment, current = self._sizes.deployments[model], self.targets[model]
        if current == 0:  # ScalingDisabled: an HPA does not wake what was set to nothing
            return []
        memory = self._memories.setdefault(model, first_sight(now, current))
        wish = self._metrics[model].wish(deployment, current, replicas, load)
        if wish is None:  # no metric: no change
            return []
        bounds = Bounds(max(deployment.least, 1), deployment.most)
        to, memory = normalised(now, current, wish, bounds, self._behavior, memory)
        self._memories[model] = rescaled(now, current, to, memory)
        return self._sizes.resize(model, to)
