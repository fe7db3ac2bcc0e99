"""Knative's autoscaler as a peer: scrapes every second, decides every two.

Concurrency is what the proxies before the pods see: requests served and requests waiting.
"""

from collections.abc import Iterable, Mapping, Sequence

from controlplane.domain.actions import Action
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.replicas import Replica
from controlplane.domain.samples import number
from controlplane.simulation.peers.fleet import Deployment, Sizes, by_name, concurrency, ready
from controlplane.simulation.peers.kpa_scale import (
    KpaMemory,
    KpaSpec,
    desired,
    first_tick,
    wanted,
)
from controlplane.simulation.peers.kpa_window import ConcurrencyWindow
from controlplane.simulation.world import Observation

SCRAPE_S = 1.0


class Kpa:
    """One autoscaler per model, with the defaults of config-autoscaler."""

    period_s = SCRAPE_S
    wakes = False

    def __init__(self, deployments: Iterable[Deployment]) -> None:
        """Watch every Deployment; a pod takes as many requests as its engine has slots."""
        self._sizes = Sizes(deployments)
        self._scalers = {
            model: _Scaler(KpaSpec(concurrency=one.slots))
            for model, one in self._sizes.deployments.items()
        }

    @property
    def targets(self) -> Mapping[ModelName, int]:
        """Replicas wanted in service."""
        return self._sizes.targets

    def cycle(self, seen: Observation) -> Sequence[Action]:
        """Scrape every model; decide for those whose tick has come."""
        now = seen.view.at
        grouped = by_name(self._sizes.deployments, seen.view.replicas)
        actions: list[Action] = []
        for model, scaler in self._scalers.items():
            scaler.scrape(now, grouped[model], seen.loads[model])
            wish = scaler.tick(now, sum(ready(replica) for replica in grouped[model]))
            if wish is not None:
                one = self._sizes.deployments[model]
                actions += self._sizes.resize(model, max(one.least, min(wish, one.most)))
        return actions


class _Scaler:
    """One revision's windows and memory."""

    def __init__(self, spec: KpaSpec) -> None:
        self._spec = spec
        self._stable = ConcurrencyWindow(spec.stable_window_s)
        self._panic = ConcurrencyWindow(spec.panic_window_s)
        self._memory: KpaMemory | None = None
        self._next_tick: Instant | None = None

    def scrape(self, now: Instant, replicas: Sequence[Replica], load: ModelLoad) -> None:
        """Record total concurrency; a second whose queue is unknown leaves a gap."""
        depths = [number(of_class.queue) for of_class in load.classes.values()]
        known = [depth for depth in depths if depth is not None]
        if len(known) == len(depths):
            total = concurrency(replicas) + sum(known)
            self._stable.record(now, total)
            self._panic.record(now, total)

    def tick(self, now: Instant, ready_pods: int) -> int | None:
        """Decide every tick; None between ticks and without data."""
        if self._next_tick is None:
            self._next_tick = now
        if self._memory is None:
            self._memory = first_tick(now, ready_pods)
        stable, panic = self._stable.average(now), self._panic.average(now)
        if now < self._next_tick or stable is None or panic is None:
            return None
        self._next_tick += self._spec.tick_s
        asked = wanted(ready_pods, stable, panic, self._spec)
        to, self._memory = desired(now, asked, self._spec, self._memory)
        return to
