"""The cluster, what its models bring and feel, its engines, and who may write to it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from controlplane.domain.actions import Action
from controlplane.domain.decisions import Outcome
from controlplane.domain.fleet import FleetView
from controlplane.domain.load import ModelLoad
from controlplane.domain.quantities import ClassName, Instant, ModelName, ReplicaName
from controlplane.domain.samples import NOT_YET, Sample
from controlplane.domain.serving import Serving
from controlplane.domain.workloads import WorkloadsView


class UnavailableError(Exception):
    """The other side cannot be had right now; the cycle is skipped and looks again."""


class Cluster(Protocol):
    """Nodes and pods: the embedded world, or Kubernetes."""

    async def observe(self) -> FleetView:
        """Give one consistent snapshot."""
        ...

    async def apply(self, action: Action) -> Outcome:
        """Carry out one action; a refusal is an outcome, not an exception."""
        ...


class Signals(Protocol):
    """What the models bring and feel."""

    async def loads(self) -> Mapping[ModelName, ModelLoad]:
        """Give the load of every catalogued model; what is unknown says so."""
        ...


class EngineAt(msgspec.Struct, frozen=True, kw_only=True):
    """A replica's engine and where it answers."""

    replica: ReplicaName
    model: ModelName
    node_class: ClassName
    host: str  # the pod's address
    serving: Serving
    serves: bool  # in lane serving: its load is the model's
    started: str  # names this start of the container: a restarted engine is a new one


class EngineState(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine said last."""

    at: Instant
    healthy: bool
    why: str = ""  # why it is not healthy, in one sentence
    sleeping: bool = False
    in_flight: Sample = NOT_YET  # requests running and waiting in the engine
    warming_up: bool = False
    warmed_up: bool = False  # a whole batch was answered, until latency was steady
    note: str = ""  # how the last warm-up ended, where it did not succeed


class Engines(Protocol):
    """The engines of all replicas, asked each by itself."""

    def follow(self, engines: Sequence[EngineAt]) -> None:
        """Ask these from now on, and no others."""
        ...

    def state(self, replica: ReplicaName) -> EngineState | None:
        """Give what an engine said last; None before its first answer."""
        ...

    async def warm_up(self, replica: ReplicaName, requests: int) -> Outcome:
        """Begin its warm-up batch; the state says how it goes."""
        ...

    async def sleep(self, replica: ReplicaName) -> Outcome:
        """Put it to sleep."""
        ...

    async def wake_up(self, replica: ReplicaName) -> Outcome:
        """Wake it."""
        ...


class Workloads(Protocol):
    """The objects a cluster holds for the models, compared with the catalogue."""

    async def standing(self) -> WorkloadsView:
        """Give how every object stands."""
        ...


class Leadership(Protocol):
    """Who may write to the cluster."""

    @property
    def leading(self) -> bool:
        """Say whether this daemon may write right now."""
        ...

    @property
    def leader(self) -> str:
        """Name the daemon that leads, as far as is known."""
        ...

    @property
    def trouble(self) -> str:
        """Say why nobody can be elected, in one sentence; empty where somebody can."""
        ...

    @property
    def term(self) -> int:
        """Number the reign; it changes whenever somebody else may have led in between."""
        ...
