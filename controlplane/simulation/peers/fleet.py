"""What all peers share: plain Deployments of one class per model, their bounds and their size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from controlplane.domain.actions import Action, SetReplicas
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.domain.replicas import Lane, Phase, Replica
from controlplane.domain.samples import number


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One model's Deployment, as an autoscaler is told about it."""

    model: ModelName
    node_class: ClassName
    least: int
    most: int
    initial: int
    slots: int


class Sizes:
    """spec.replicas of every Deployment; the only thing a peer writes."""

    def __init__(self, deployments: Iterable[Deployment]) -> None:
        """Begin with what runs."""
        self.deployments = {one.model: one for one in deployments}
        self.targets: dict[ModelName, int] = {
            model: one.initial for model, one in self.deployments.items()
        }

    def resize(self, model: ModelName, to: int) -> list[Action]:
        """Write spec.replicas where it changes."""
        if to == self.targets[model]:
            return []
        self.targets[model] = to
        return [SetReplicas(model, self.deployments[model].node_class, to)]


def pods(replicas: Iterable[Replica]) -> int:
    """Count status.replicas: every pod that is neither being deleted nor failed."""
    return sum(replica.phase in (Phase.PENDING, Phase.RUNNING) for replica in replicas)


def ready(replica: Replica) -> bool:
    """Say whether the pod passes its readiness probe."""
    return replica.serving and replica.healthy


def concurrency(replicas: Iterable[Replica]) -> float:
    """Sum the requests that are being served."""
    readings = (number(r.in_flight) for r in replicas if r.lane is not Lane.LOADING)
    return sum(reading for reading in readings if reading is not None)


def by_name(
    deployments: Mapping[ModelName, Deployment], replicas: Iterable[Replica]
) -> dict[ModelName, list[Replica]]:
    """Group replicas by model; every Deployment has its list, though it may be empty."""
    grouped: dict[ModelName, list[Replica]] = {model: [] for model in deployments}
    for replica in replicas:
        if replica.model in grouped:
            grouped[replica.model].append(replica)
    return grouped
