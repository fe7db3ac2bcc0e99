"""A draft of what one model's spare cycle will do, and the counts its rules look at.

Rules run in an order in which every prefix of the actions is a safe state (law 4): what serves is
promoted before anything is drained, and only what is drained or never served is deleted.
"""

from collections import Counter

from controlplane.decide.spare.inputs import SpareInput
from controlplane.domain.actions import Action, SetLane, SetReplicas
from controlplane.domain.decisions import Target
from controlplane.domain.quantities import ClassName, ReplicaName
from controlplane.domain.reasons import Evidence, EvidenceValue, ReasonCode, Refusal
from controlplane.domain.replicas import Lane, Phase, Replica


class Draft:
    """Collects actions and reasons; its lists show the lanes as they will then be."""

    def __init__(self, seen: SpareInput) -> None:
        """Begin from what is seen."""
        self.seen = seen
        self.serving = [r for r in seen.replicas if r.serving]
        # Warmed up but not yet labelled counts as warm: it saves a cycle, and law 7 is kept.
        self.warm = [r for r in seen.replicas if r.promotable or (r.loading and r.warmed_up)]
        self.loading = [r for r in seen.replicas if r.loading and not r.warmed_up]
        self.draining = [r for r in seen.replicas if r.lane is Lane.DRAINING and r.present]
        # A silent node's pods are still owned by the Deployment but serve nobody (R4).
        self.lost = [r for r in seen.replicas if not r.node_ready and owned(r)]
        # In a zone that takes no more pods: they serve until they are replaced elsewhere.
        self.leaving = {r.name for r in seen.replicas if r.node in seen.lost and r.present}
        self.figure = Target(len(self.serving))
        self.refused: list[Refusal] = []
        self.actions: list[Action] = []
        self.victims: dict[ClassName, list[ReplicaName]] = {}
        self.rotating = 0  # extra spares wanted while an old one is being replaced

    def say(self, code: ReasonCode, name: str = "", value: EvidenceValue = None) -> None:
        """Give the reason for what was just added; the figure is the number in service."""
        evidence = (Evidence(name, value),) if name else ()
        self.figure = self.figure.move(len(self.serving), code, *evidence)

    def flip(self, replica: Replica, lane: Lane) -> None:
        """Move a replica to a lane, if it is still as it was seen."""
        self.actions.append(SetLane(replica=replica.name, lane=lane, version=replica.version))
        for members in (self.serving, self.warm, self.loading, self.draining):
            if replica in members:
                members.remove(replica)
        if lane is not Lane.LOADING:
            {
                Lane.SERVING: self.serving,
                Lane.WARM: self.warm,
                Lane.DRAINING: self.draining,
            }[lane].append(replica)

    def delete(self, replica: Replica) -> None:
        """Mark a replica to go when its Deployment is sized."""
        self.victims.setdefault(replica.node_class, []).append(replica.name)
        for members in (self.warm, self.loading, self.draining):
            if replica in members:
                members.remove(replica)

    @property
    def staying(self) -> list[Replica]:
        """Give what serves and need not leave its zone."""
        return [r for r in self.serving if r.name not in self.leaving]

    def deficit(self, name: ClassName) -> int:
        """Say how many more of this class are wanted in service."""
        return self.seen.standing.split.get(name, 0) - of_class(self.staying)[name]

    def offered(self, name: ClassName) -> bool:
        """Say whether the catalogue still offers the class to this model."""
        return any(facts.node_class == name for facts in self.seen.variants)

    @property
    def classes(self) -> list[ClassName]:
        """Every class this model is on or wanted on, the cheapest first."""
        known = [facts.node_class for facts in self.seen.variants]
        others = {r.node_class for r in self.seen.replicas} | set(self.seen.standing.split)
        return known + sorted(others - set(known))

    def size(self, name: ClassName, wanted: int) -> None:
        """Size a Deployment. Victims leave first; what is wanted beyond is grown next cycle."""
        exist = sum(1 for r in self.seen.replicas if r.node_class == name and owned(r))
        victims = tuple(self.victims.get(name, ()))
        count = exist - len(victims) if victims else wanted
        if count != exist:
            self.actions.append(
                SetReplicas(model=self.seen.model, node_class=name, count=count, victims=victims)
            )


def owned(replica: Replica) -> bool:
    """Say whether the Deployment counts this pod as one of its own."""
    return replica.phase not in (Phase.TERMINATING, Phase.FAILED)


def of_class(replicas: list[Replica]) -> Counter[ClassName]:
    """Count replicas by class."""
    return Counter(r.node_class for r in replicas)
