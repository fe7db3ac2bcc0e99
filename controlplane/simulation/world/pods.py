"""A pod of the simulated cluster: where it stands in its life, and how it is shown."""

from dataclasses import dataclass
from typing import Any

import msgspec

from controlplane.domain.catalogue import Variant
from controlplane.domain.quantities import ClassName, Instant, ModelName, ReplicaName
from controlplane.domain.replicas import Lane, Phase, Replica, Stage
from controlplane.domain.samples import NOT_YET, Sample, Value, Zero
from controlplane.simulation.world.engines import Engine
from controlplane.simulation.world.nodes import Machine


@dataclass(slots=True, eq=False)
class Pod:
    """One pod. Times are seconds since the world's start."""

    name: ReplicaName
    model: ModelName
    node_class: ClassName
    variant: Variant
    devices: int
    created: float
    engine: Engine
    lane_since: float
    order: int  # of creation: the tie-break among pods of one instant
    lane: Lane = Lane.LOADING
    phase: Phase = Phase.PENDING
    stage: Stage = Stage.UNSCHEDULED
    machine: Machine | None = None
    bound: float | None = None  # since when it holds devices
    healthy: bool = False
    warmed_up: bool = False
    warming_up: bool = False
    sleeping: bool = False
    hangs: bool = False  # answers health checks, never generates
    in_service: bool = False  # requests reach it
    lent: int = 0
    unschedulable_since: float | None = None
    note: str = ""
    version: int = 0
    ended: float | None = None  # when its engine stopped and its devices were freed
    gone: bool = False  # from the list

    @property
    def alive(self) -> bool:
        """Say whether its Deployment counts it as one of its own."""
        return not self.gone and self.phase in (Phase.PENDING, Phase.RUNNING)

    @property
    def runs(self) -> bool:
        """Say whether it is on a node that answers."""
        return self.ended is None and self.machine is not None and self.machine.ready

    @property
    def answers(self) -> bool:
        """Say whether requests could reach its engine at all."""
        return self.healthy and self.runs and not self.hangs and not self.sleeping

    def flip(self, lane: Lane, now: float) -> None:
        """Change the lane label."""
        self.lane, self.lane_since = lane, now
        self.version += 1

    def seen(self, start: Instant, now: float, busy: int) -> Replica:
        """Give the pod as the cluster shows it."""
        machine = self.machine
        in_flight: Sample = NOT_YET
        if self.healthy and machine is not None and machine.ready:
            in_flight = Value(float(busy), start + now) if busy else Zero(start + now)
        shown = Replica(
            name=self.name,
            model=self.model,
            node_class=self.node_class,
            lane=self.lane,
            phase=self.phase,
            stage=self.stage,
            created_at=start + self.created,
            node=machine.name if machine else None,
            zone=machine.zone if machine else None,
            healthy=self.healthy,
            warmed_up=self.warmed_up,
            lane_since=start + self.lane_since,
            in_flight=in_flight,
            version=self.version,
        )
        unusual = self._unusual(start)
        return msgspec.structs.replace(shown, **unusual) if unusual else shown

    def _unusual(self, start: Instant) -> dict[str, Any]:
        """Give what is seldom so; Python passes more than fifteen names at a time slowly."""
        unusual: dict[str, Any] = {}
        if self.machine is not None and not self.machine.ready:
            unusual["node_ready"] = False
        if self.unschedulable_since is not None:
            unusual["unschedulable_since"] = start + self.unschedulable_since
        if self.warming_up:
            unusual["warming_up"] = True
        if self.sleeping:
            unusual["sleeping"] = True
        if self.lent:
            unusual["lent_slots"] = self.lent
        if self.note:
            unusual["note"] = self.note
        return unusual
