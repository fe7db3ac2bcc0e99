"""A draft of what one model's spare cycle will do, and the counts its rules look at.

Rules run in an order in which every prefix of the actions is a safe state (law 4): what serves is
promoted before anything is drained, and only what is drained or never served is deleted.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from controlplane.decide.spare.inputs import SpareInput
from controlplane.domain.actions import Action, SetLane, SetReplicas
from controlplane.domain.decisions import Target
from controlplane.domain.quantities import ClassName, ReplicaName
from controlplane.domain.reasons import Evidence, EvidenceValue, ReasonCode, Refusal
from controlplane.domain.replicas import Lane, Phase, Replica

SERVING, DRAINING, LOADING = Lane.SERVING, Lane.DRAINING, Lane.LOADING
UP = frozenset((Lane.WARM, Lane.SERVING))
ENDED = frozenset((Phase.TERMINATING, Phase.FAILED))


class Draft:
    """Collects actions and reasons; its lists show the lanes as they will then be."""

    def __init__(self, seen: SpareInput) -> None:
        """Begin from what is seen."""
        self.seen = seen
        self.serving: list[Replica] = []
        self.warm: list[Replica] = []
        self.loading: list[Replica] = []
        self.draining: list[Replica] = []
        self.lost: list[Replica] = []
        self.restarted: list[Replica] = []  # in service or warm, and their engine began anew
        for replica in seen.replicas:
            self._sort_in(replica)
        # In a zone that takes no more pods: they serve until they are replaced elsewhere.
        self.leaving = frozenset(
            r.name for r in seen.replicas if seen.lost and r.node in seen.lost and r.present
        )
        self.classes = _classes(seen)
        self.figure = Target(len(self.serving))
        self.refused: list[Refusal] = []
        self.actions: list[Action] = []
        self.victims: dict[ClassName, list[ReplicaName]] = {}
        self.rotating = 0  # extra spares wanted while an old one is being replaced

    def _sort_in(self, replica: Replica) -> None:
        if not replica.present:
            # A silent node's pods are still owned by the Deployment but serve nobody (R4).
            if not replica.node_ready and owned(replica):
                self.lost.append(replica)
        elif replica.lane in UP and not replica.warmed_up:
            self.restarted.append(replica)
        elif replica.lane is SERVING:
            self.serving.append(replica)
        elif replica.lane is DRAINING:
            self.draining.append(replica)
        elif replica.warmed_up:
            # Warmed up but not yet labelled counts as warm: it saves a cycle, and law 7 is kept.
            self.warm.append(replica)
        elif replica.lane is LOADING:
            self.loading.append(replica)

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
        {
            LOADING: self.loading,
            Lane.WARM: self.warm,
            SERVING: self.serving,
            DRAINING: self.draining,
        }[lane].append(replica)

    def delete(self, replica: Replica) -> None:
        """Mark a replica to go when its Deployment is sized."""
        self.victims.setdefault(replica.node_class, []).append(replica.name)
        for members in (self.warm, self.loading, self.draining):
            if replica in members:
                members.remove(replica)

    @property
    def staying(self) -> Sequence[Replica]:
        """Give what serves and need not leave its zone."""
        if not self.leaving:
            return self.serving
        return [r for r in self.serving if r.name not in self.leaving]

    def deficit(self, name: ClassName) -> int:
        """Say how many more of this class are wanted in service."""
        missing = self.seen.standing.split.get(name, 0)
        for replica in self.staying:
            if replica.node_class == name:
                missing -= 1
        return missing

    def offered(self, name: ClassName) -> bool:
        """Say whether the catalogue still offers the class to this model."""
        return any(facts.node_class == name for facts in self.seen.variants)

    def size(self, name: ClassName, wanted: int) -> None:
        """Size a Deployment. Victims leave first; what is wanted beyond is grown next cycle."""
        exist = sum(1 for r in self.seen.replicas if r.node_class == name and owned(r))
        victims = tuple(self.victims.get(name, ()))
        count = exist - len(victims) if victims else wanted
        # Nobody leaves unnamed: what is one too many comes and goes with a rollout.
        if count > exist or (victims and count < exist):
            self.actions.append(
                SetReplicas(model=self.seen.model, node_class=name, count=count, victims=victims)
            )


def owned(replica: Replica) -> bool:
    """Say whether the Deployment counts this pod as one of its own."""
    return replica.phase not in ENDED


def of_class(replicas: Sequence[Replica]) -> Mapping[ClassName, int]:
    """Count replicas by class; a class without any has 0."""
    counts: dict[ClassName, int] = defaultdict(int)
    for replica in replicas:
        counts[replica.node_class] += 1
    return counts


def _classes(seen: SpareInput) -> Sequence[ClassName]:
    """Give every class this model is on or wanted on, the cheapest first."""
    known = [facts.node_class for facts in seen.variants]
    others = {r.node_class for r in seen.replicas}.union(seen.standing.split).difference(known)
    return known + sorted(others) if others else known
