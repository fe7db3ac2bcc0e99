"""The world: cluster, engines and front doors behind three calls.

Time passes event by event. Between two events of the cluster nothing connects the models, so each
front door runs on by itself to the next one; only where a decider must be woken at the very moment
a request is turned away do they go in steps in which none can be turned away before the last.
"""

from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import replace
from math import inf

import msgspec

from controlplane.domain.actions import Action, SetReplicas
from controlplane.domain.catalogue import Catalogue, Model
from controlplane.domain.decisions import DONE, Outcome
from controlplane.domain.fleet import FleetView
from controlplane.domain.load import ModelLoad
from controlplane.domain.policies import AdmissionPolicy
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Instant, ModelName, ReplicaName
from controlplane.simulation.traffic import Traffic
from controlplane.simulation.world import lanes
from controlplane.simulation.world.cluster import Cluster
from controlplane.simulation.world.faults import Fault
from controlplane.simulation.world.news import News
from controlplane.simulation.world.outages import fail, strike
from controlplane.simulation.world.spec import WorldSpec
from controlplane.simulation.world.station import Station
from controlplane.simulation.world.tally import Tally
from controlplane.simulation.world.watch import Watch

QUIET_S = 1.0  # after a look, a request turned away waits so long before it wakes anybody


class Observation(msgspec.Struct, frozen=True):
    """One consistent look at the world."""

    view: FleetView
    loads: Mapping[ModelName, ModelLoad]


class World:
    """A simulated cluster with its traffic."""

    def __init__(self, spec: WorldSpec, traffic: Mapping[ModelName, Traffic], seed: int) -> None:
        """Build the world at `spec.start`; models without traffic get no requests."""
        self._spec = spec
        self._catalogue = spec.catalogue
        self._now = 0.0
        self._stations: dict[ModelName, Station] = {}
        self._watches: dict[ModelName, Watch] = {}
        for name, model in spec.catalogue.models.items():
            self._open(name, model, traffic.get(name))
        self._cluster = Cluster(spec, self._stations, seed)
        self._faults = sorted(spec.faults, key=lambda f: f.at)
        self._told: set[News] = set()
        self._looked = -QUIET_S

    @property
    def now(self) -> Instant:
        """The instant up to which everything has happened."""
        return self._spec.start + self._now

    # ------------------------------------------------------------------ time
    def advance(self, to: Instant, *, wake: bool = True) -> Instant:
        """Let events happen up to `to`; stop early where a decider should look."""
        end = max(to - self._spec.start, self._now)
        self._settle()
        while not (wake and self._wakes()) and self._now < end:
            self._now = self._pass(min(end, self._next_event()), wake=wake)
            self._settle()
        return self.now

    def _next_event(self) -> float:
        fault = self._faults[0].at - self._spec.start if self._faults else inf
        return min(fault, self._cluster.next_at)

    def _pass(self, horizon: float, *, wake: bool) -> float:
        """Let requests come and go up to the horizon, or to the first turn-away that wakes."""
        stations = self._stations.values()
        halt_from = inf
        if wake and News.TURNED_AWAY not in self._told:
            halt_from = self._looked + QUIET_S
            if halt_from > self._now:
                horizon = min(horizon, halt_from)
            elif len(stations) > 1:
                horizon = min(horizon, *(s.safe_until() for s in stations))
        if len(stations) == 1:
            (station,) = stations
            return station.run(horizon, halt_from)
        for station in stations:
            while station.run(horizon) < horizon:
                pass  # it stopped for an engine that died; the others may be ahead already
        return horizon

    def _settle(self) -> None:
        """Let what is due in the cluster happen, after the requests up to now."""
        cluster = self._cluster
        cluster.now = self._now
        for station in self._stations.values():
            station.now = self._now
            for engine in station.died:
                pod = cluster.pods.get(engine.replica)
                if pod is not None and pod.ended is None:
                    fail(cluster, pod, "OOMKilled")
            station.died.clear()
        while self._faults and self._faults[0].at <= self.now:
            strike(cluster, self._faults.pop(0))
        cluster.run_due(self._now)

    def _wakes(self) -> bool:
        """Say whether there is news of a kind nobody was woken for since the last look."""
        news = set(self._cluster.news)
        refused = any(s.refused_at < inf for s in self._stations.values())
        if refused and self._now >= self._looked + QUIET_S:
            news.add(News.TURNED_AWAY)
        fresh = news - self._told
        self._told |= fresh
        return bool(fresh)

    # ------------------------------------------------------------------ seeing and acting
    def view(self) -> FleetView:
        """Look at nodes and pods only; rates are left for `observe`."""
        start, now = self._spec.start, self._now
        busy: dict[ReplicaName, int] = {}
        for station in self._stations.values():
            busy.update(station.slots.in_flight())
        return FleetView(
            at=self.now,
            nodes=tuple(machine.seen() for machine in self._cluster.machines),
            replicas=tuple(
                pod.seen(start, now, busy.get(pod.name, 0)) for pod in self._cluster.pods.values()
            ),
        )

    def observe(self) -> Observation:
        """Look at everything now; rates are since the last look."""
        return Observation(self.view(), self.loads())

    def loads(self) -> Mapping[ModelName, ModelLoad]:
        """Look at the requests only; rates are since the last look."""
        loads = {
            name: watch.load(name, self.now)
            for name, watch in self._watches.items()
            if name in self._catalogue.models
        }
        self._looked = self._now
        self._told.clear()
        self._cluster.news.clear()
        for station in self._stations.values():
            station.refused_at = inf
        return loads

    def apply(self, action: Action) -> Outcome:
        """Carry out one action, or say why not."""
        if isinstance(action, SetReplicas):
            return self._size(action)
        if isinstance(action, lanes.OnPod):
            return lanes.apply(self._cluster, action)
        return DONE  # touches no cluster

    def _size(self, action: SetReplicas) -> Outcome:
        model = self._catalogue.models.get(action.model)
        if model is None or action.node_class not in model.variants:
            # The Deployment of a variant that left the catalogue may shrink, never grow.
            alive = self._cluster.alive(action.model, action.node_class)
            if action.count > len(alive):
                return lanes.refused(f"{action.model} has no variant on {action.node_class}")
        self._cluster.set_replicas(action.model, action.node_class, action.count, action.victims)
        return DONE

    def inflict(self, fault: Fault) -> None:
        """Let a fault happen at its time, or now when that is past."""
        self._faults.append(fault)
        self._faults.sort(key=lambda f: f.at)

    def swap_catalogue(self, catalogue: Catalogue) -> None:
        """Put another catalogue in force; what runs keeps running, hardware stays what it is."""
        gone = set(self._catalogue.models) - set(catalogue.models)
        for name, model in catalogue.models.items():
            if name in self._stations:
                self._stations[name].revise(self._admission(model), _wait_limits(model))
                self._watches[name].steady_s = model.policy.scaling.steady_s
            else:
                self._open(name, model, None)
                self._cluster.meet(name)
        self._catalogue = self._cluster.catalogue = catalogue
        self._cluster.retire(gone)

    @property
    def stations(self) -> Mapping[ModelName, Station]:
        """Give the front doors of the catalogued models."""
        return {name: s for name, s in self._stations.items() if name in self._catalogue.models}

    def shut(self, models: Collection[ModelName]) -> None:
        """Refuse new requests for these models, and for no others; who waits is served."""
        for name, station in self._stations.items():
            station.shut = name in models

    def tally(self, model: ModelName) -> Tally:
        """Give the model's figures since the start."""
        station, meter = self._stations[model], deepcopy(self._cluster.meters[model])
        station.look_for_breach(self._now)
        for pod in self._cluster.pods.values():
            if pod.model == model and pod.ended is None:
                meter.bill(pod, self._now)
        start, breach = self._spec.start, station.book.first_breach
        return Tally(
            classes=dict(zip(PRIORITIES, deepcopy(station.book.by_rank), strict=True)),
            busy_slot_s=station.busy_slot_s,
            billed_slot_s=meter.slot_s,
            device_s=meter.device_s,
            max_serving=meter.max_serving,
            first_breach_at=start + breach if breach < inf else None,
            first_added_serving_at=start + meter.first_added if meter.first_added < inf else None,
        )

    # ------------------------------------------------------------------ inside
    def _open(self, name: ModelName, model: Model, traffic: Traffic | None) -> None:
        """Open a model's front door."""
        station = Station(self._admission(model), _wait_limits(model), traffic)
        station.slots.service_s = min(v.service_s for v in model.variants.values())
        kv = model.need.kv
        if kv is not None:
            station.kv_room = kv.context_tokens * kv.sequences
        self._stations[name] = station
        self._watches[name] = Watch(station, model.policy.scaling.steady_s)

    def _admission(self, model: Model) -> AdmissionPolicy:
        policy = model.policy.admission
        return replace(policy, single_queue=True) if self._spec.fifo else policy


def _wait_limits(model: Model) -> tuple[float, ...]:
    """Read what each class is promised; a class without an objective is promised nothing."""
    objectives = model.policy.objectives
    return tuple(objectives[p].wait_p99_s if p in objectives else inf for p in PRIORITIES)
