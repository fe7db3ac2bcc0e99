"""Deployments, scheduling and the first part of a pod's life: created, bound, pulled, loaded.

Every variant is a Deployment that keeps its count. Events lie in one heap; their times are seconds
since the world's start. What happens after an engine is up stands in `lanes`, what goes wrong in
`outages`.
"""

from collections.abc import Callable, Collection, Mapping
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from controlplane.decide.placement.matching import smallest_degree
from controlplane.domain.catalogue import Model, Variant, workload
from controlplane.domain.faults import Fault, FaultsError
from controlplane.domain.quantities import ClassName, ModelName, ReplicaName, Zone
from controlplane.domain.replicas import Lane, Phase, Stage
from controlplane.simulation.world.engines import FIRST_REQUESTS
from controlplane.simulation.world.meter import Meter
from controlplane.simulation.world.news import News
from controlplane.simulation.world.nodes import Machine, choose, machines_of, why_none_fits
from controlplane.simulation.world.pods import Pod
from controlplane.simulation.world.spec import WorldSpec
from controlplane.simulation.world.station import Station

Event: TypeAlias = tuple[float, int, Callable[[Pod], None], Pod]
Key: TypeAlias = tuple[ModelName, ClassName]

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # what Kubernetes makes pod names of


class Template(NamedTuple):
    """What a Deployment makes its pods of."""

    variant: Variant
    devices: int
    slowness: float  # service time over that of the model's fastest variant


class Cluster:
    """Nodes and pods. `stations` are the front doors that pods serve behind."""

    def __init__(self, spec: WorldSpec, stations: Mapping[ModelName, Station], seed: int) -> None:
        """Start with the pods that serve from the beginning, warmed up and with their images."""
        self.spec = spec
        self.catalogue = spec.catalogue
        self.stations = stations
        self.machines: tuple[Machine, ...] = machines_of(spec.catalogue)
        self.pods: dict[ReplicaName, Pod] = {}
        self.meters = {model: Meter() for model in stations}
        self.news: set[News] = set()
        self.now = 0.0
        self.hanging: dict[ModelName, int] = {}  # engines still to come up that will hang
        self._wanted: dict[Key, int] = {}
        self._templates: dict[Key, Template] = {}
        self._events: list[Event] = []
        self._order = count()
        self._names = np.random.default_rng(seed)
        for model, by_class in spec.initial.items():
            for node_class, replicas in by_class.items():
                self._begin_with(model, node_class, replicas)

    # ------------------------------------------------------------------ events
    @property
    def next_at(self) -> float:
        """When the next event is due."""
        return self._events[0][0] if self._events else inf

    def after(self, seconds: float, act: Callable[[Pod], None], pod: Pod) -> None:
        """Let something happen to a pod later; it looks itself whether it still makes sense."""
        heappush(self._events, (self.now + seconds, next(self._order), act, pod))

    def run_due(self, now: float) -> None:
        """Let all events up to `now` happen."""
        self.now = now
        while self._events and self._events[0][0] <= now:
            _, _, act, pod = heappop(self._events)
            if not pod.gone:
                act(pod)

    # ------------------------------------------------------------------ deployments
    def set_replicas(
        self, model: ModelName, node_class: ClassName, wanted: int, victims: tuple[str, ...]
    ) -> None:
        """Size a Deployment: `victims` go first, then Pending, then not ready, then the newest."""
        self._wanted[model, node_class] = wanted
        pods = self.alive(model, node_class)
        first = {name: n for n, name in enumerate(victims)}
        pods.sort(
            key=lambda p: (
                first.get(p.name, len(first)),
                p.phase is not Phase.PENDING,
                p.healthy,
                -p.order,
            )
        )
        for pod in pods[: max(0, len(pods) - wanted)]:
            self.terminate(pod)
        self.reconcile(model, node_class)

    def alive(self, model: ModelName, node_class: ClassName) -> list[Pod]:
        """List the pods a Deployment counts as its own."""
        return [
            p
            for p in self.pods.values()
            if p.model == model and p.node_class == node_class and p.alive
        ]

    def reconcile(self, model: ModelName, node_class: ClassName) -> None:
        """Create the pods that are missing, then place whatever is unplaced."""
        missing = self._wanted.get((model, node_class), 0) - len(self.alive(model, node_class))
        for _ in range(missing):
            self._create(model, node_class)
        self.schedule()

    def terminate(self, pod: Pod) -> None:
        """Delete a pod; its requests may end first, for as long as the grace period lasts."""
        busy_until = self.stations[pod.model].slots.busy_until(pod.engine)
        left = min(busy_until - self.now, self.spec.grace_s)
        if left <= 0:
            self.delete(pod)
            return
        self.take_out(pod)
        pod.phase = Phase.TERMINATING
        pod.version += 1
        self.after(left, self.delete, pod)

    def delete(self, pod: Pod) -> None:
        """Delete a pod at once; requests on it are cut off."""
        self.end(pod)
        pod.gone = True
        self.pods.pop(pod.name, None)
        self.schedule()

    def end(self, pod: Pod) -> None:
        """Stop a pod's engine and free its devices; what it held is billed."""
        if pod.ended is not None:
            return
        self.take_out(pod)
        self.stations[pod.model].remove(pod.engine)
        self.meters[pod.model].bill(pod, self.now)
        pod.ended = self.now
        if pod.machine is not None:
            pod.machine.free += pod.devices

    def meet(self, model: ModelName) -> None:
        """Learn of a model that joined the catalogue."""
        self.meters.setdefault(model, Meter())

    def retire(self, models: Collection[ModelName]) -> None:
        """Delete the Deployments of models that left the catalogue."""
        for model, node_class in [key for key in self._wanted if key[0] in models]:
            self.set_replicas(model, node_class, 0, ())

    # ------------------------------------------------------------------ service
    def put_in(self, pod: Pod) -> None:
        """Let requests reach a pod."""
        if pod.in_service:
            return
        pod.in_service, pod.lent = True, 0
        station = self.stations[pod.model]
        self.meters[pod.model].rose(station, self.now)
        station.place(pod.engine, serving=True)
        self.meters[pod.model].serving(station)

    def take_out(self, pod: Pod) -> None:
        """Let no new requests reach a pod; those on it go on."""
        if pod.in_service or pod.lent:
            pod.in_service, pod.lent = False, 0
            self.stations[pod.model].place(pod.engine)

    # ------------------------------------------------------------------ the way up
    def schedule(self) -> None:
        """Place every pod that has no node yet, the oldest first."""
        for pod in sorted(self.pods.values(), key=lambda p: p.order):
            if pod.stage is Stage.UNSCHEDULED and pod.alive:
                self._place(pod)

    def _place(self, pod: Pod) -> None:
        zones: dict[Zone, int] = {}
        for other in self.alive(pod.model, pod.node_class):
            if other.machine is not None:
                zones[other.machine.zone] = zones.get(other.machine.zone, 0) + 1
        machine = choose(self.machines, pod.node_class, pod.devices, zones, pod.variant.image)
        if machine is None:
            pod.note = why_none_fits(self.machines, pod.node_class, pod.devices)
            if pod.unschedulable_since is None:
                pod.unschedulable_since = self.now
                self.news.add(News.UNSCHEDULABLE)
            return
        self._bind(pod, machine)
        image = pod.variant.image
        if self.spec.image_cached:
            machine.image_at.setdefault(image, self.now)
        here = machine.image_at.setdefault(
            image, self.now + pod.variant.image_gib / self.spec.pull_gib_per_s
        )
        pod.stage = Stage.PULLING
        if here > self.now:
            self.after(here - self.now, self._pulled, pod)
        else:
            self._pulled(pod)

    def _bind(self, pod: Pod, machine: Machine) -> None:
        machine.free -= pod.devices
        pod.machine, pod.bound = machine, self.now
        pod.unschedulable_since, pod.note = None, ""

    def _pulled(self, pod: Pod) -> None:
        if pod.runs and pod.stage is Stage.PULLING:
            pod.phase, pod.stage = Phase.RUNNING, Stage.LOADING_MODEL
            pod.version += 1
            self.after(pod.variant.load_s, self._loaded, pod)

    def _loaded(self, pod: Pod) -> None:
        if not pod.runs or pod.stage is not Stage.LOADING_MODEL:
            return
        pod.healthy, pod.stage = True, Stage.UP
        pod.version += 1
        if self.hanging.get(pod.model, 0) > 0:
            self.hanging[pod.model] -= 1
            pod.hangs = True
        self.news.add(News.HEALTHY)
        if self.spec.self_serving:
            pod.flip(Lane.SERVING, self.now)
            self.after(pod.variant.promote_s, self.enter, pod)

    def enter(self, pod: Pod) -> None:
        """Let a pod into service if its label has said so for long enough."""
        settled = self.now - pod.lane_since >= pod.variant.promote_s - 1e-9
        if pod.lane is Lane.SERVING and settled and pod.answers:
            self.put_in(pod)

    # ------------------------------------------------------------------ inside
    def _create(self, model: ModelName, node_class: ClassName) -> Pod:
        template = self._template(model, node_class)
        name = self._name(model, node_class)
        pod = Pod(
            name=name,
            model=model,
            node_class=node_class,
            variant=template.variant,
            devices=template.devices,
            created=self.now,
            engine=self.stations[model].slots.install(
                name, template.variant.slots, template.slowness
            ),
            lane_since=self.now,
            order=next(self._order),
        )
        self.pods[name] = pod
        return pod

    def _template(self, model: ModelName, node_class: ClassName) -> Template:
        """Give the catalogue's template, else the last there was: Deployments outlive variants."""
        spec = self.catalogue.models.get(model)
        if spec is not None and node_class in spec.variants:
            variant = spec.variants[node_class]
            fastest = min(v.service_s for v in spec.variants.values())
            self._templates[model, node_class] = Template(
                variant, self._devices(spec, node_class), variant.service_s / fastest
            )
        return self._templates[model, node_class]

    def _begin_with(self, model: ModelName, node_class: ClassName, replicas: int) -> None:
        for placed in range(replicas):
            pod = self._create(model, node_class)
            self._place(pod)
            if pod.machine is None:
                if not self.spec.initial_where_it_fits:
                    rule = f"do not fit on {node_class}: {pod.note}"
                    field = f"models.{model}.initial"
                    raise FaultsError([Fault("scenario", None, field, str(replicas), rule)])
                self.delete(pod)
                return
            self._wanted[model, node_class] = placed + 1
            pod.machine.image_at[pod.variant.image] = self.now
            pod.phase, pod.stage, pod.lane = Phase.RUNNING, Stage.UP, Lane.SERVING
            pod.healthy = pod.warmed_up = True
            pod.engine.answered = FIRST_REQUESTS
            self.put_in(pod)

    def _devices(self, model: Model, node_class: ClassName) -> int:
        """Give the devices one replica holds; a model that fits nowhere asks for the most."""
        degree = smallest_degree(model, self.catalogue.node_classes[node_class], None)
        return degree or max(model.tensor_parallel)

    def _name(self, model: ModelName, node_class: ClassName) -> ReplicaName:
        while True:
            picks = self._names.integers(len(_ALPHABET), size=5)
            suffix = "".join(_ALPHABET[k] for k in picks)
            name = ReplicaName(f"{workload(model, node_class)}-{suffix}")
            if name not in self.pods:
                return name
