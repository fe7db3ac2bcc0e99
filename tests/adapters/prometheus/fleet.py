"""A model with some replicas in service, as the signals see them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from controlplane.adapters.prometheus.client import Prometheus
from controlplane.adapters.prometheus.signals import PrometheusSignals
from controlplane.clock import Clock
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.fleet import FleetView
from controlplane.domain.quantities import ModelName
from controlplane.domain.serving import EngineKind, Serving
from controlplane.domain.sources import Queries, SignalsPolicy
from tests.builders import a_catalogue, a_model, a_replica

POD = "controlplane_dev_model"


def labels(pod: str, model: str) -> dict[str, str]:
    return {"pod": pod, "namespace": "inference", POD: model}


@dataclass(slots=True)
class Scene:
    """Signals of one model over a client, and the pods it has."""

    client: Prometheus
    model: ModelName
    pods: Sequence[str]
    engine: EngineKind = "vllm"
    queries: Queries = field(default_factory=dict)
    fresh_s: float = 60.0
    clock: Clock = field(default_factory=Clock)

    def catalogue(self) -> Catalogue:
        model = replace(a_model(), serving=Serving(engine=self.engine), queries=self.queries)
        fleet = a_catalogue({self.model: model})
        return replace(fleet, signals=SignalsPolicy(fresh_s=self.fresh_s))

    def view(self) -> FleetView:
        replicas = tuple(a_replica(pod, model=self.model) for pod in self.pods)
        return FleetView(at=self.clock.now(), nodes=(), replicas=replicas)

    def signals(self) -> PrometheusSignals:
        return PrometheusSignals(self.client, self.catalogue, self.view, self.clock, "inference")
