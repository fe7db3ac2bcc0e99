"""What a daemon runs on: the embedded world, or a real cluster. The loops know no difference."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from controlplane.clock import Clock
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.decisions import Choice, Outcome
from controlplane.domain.quantities import ModelName, ReplicaName
from controlplane.loops.in_memory import SoleLeader
from controlplane.loops.publishing import ScaledObjectStore
from controlplane.ports import Cluster, EngineAt, Leadership, QueueReads, Signals, Workloads
from controlplane.settings import ServeOptions
from controlplane.simulation.embedded import embedded

EMBEDDED = "embedded-"  # begins the name of every world that ends with its process

Task: TypeAlias = Callable[[], Awaitable[NoReturn]]


class StartError(Exception):
    """The daemon cannot start; its text is one sentence for people."""


async def _at_once() -> None:
    """Be ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A cluster with all that keeps it in view."""

    world: str  # names it in the store
    title: str  # names it for people
    acts: bool  # what the daemon does where nobody set a mode
    cluster: Cluster
    signals: Signals
    swap_catalogue: Callable[[Catalogue], Awaitable[None]]
    on_news: Callable[[Callable[[], None]], None]  # call this when something should be looked at
    tasks: Mapping[str, Task] = field(default_factory=dict)  # what must run for all of this
    leadership: Leadership = field(default_factory=SoleLeader)
    identity: str = ""  # names this daemon among those that share a store
    advised_by: Callable[[Leadership], None] | None = None  # who leads where all only advise
    ready: Callable[[], Awaitable[object]] = _at_once  # returns when a first look is worth it
    namespace: str | None = None  # of the models on a real cluster
    engines_at: Callable[[], Sequence[EngineAt]] | None = None  # as of the last look
    full: Callable[[], frozenset[ReplicaName]] = frozenset  # engines with more than they can take
    scaled_objects: ScaledObjectStore | None = None  # where models may be left to KEDA
    queues: QueueReads | None = None  # where requests come in, if they come in here
    shut: Callable[[Collection[ModelName]], None] | None = None  # … refuse these models' requests
    workloads: Workloads | None = None  # the objects a real cluster holds for the models
    told: Callable[[Choice, Outcome], None] = lambda _choice, _outcome: None  # of what was done


@asynccontextmanager
async def embedded_surroundings(
    options: ServeOptions, catalogue: Catalogue, clock: Clock
) -> AsyncIterator[Surroundings]:
    """Build a world from the fleet file; it ends with the process."""
    cluster = embedded(catalogue, clock, options.seed)

    def on_news(wake: Callable[[], None]) -> None:
        cluster.wake = wake

    yield Surroundings(
        world=f"{EMBEDDED}{int(clock.now())}",
        title="embedded",
        acts=True,
        cluster=cluster,
        signals=cluster,
        queues=cluster,
        shut=cluster.shut,
        swap_catalogue=cluster.swap_catalogue,
        on_news=on_news,
        tasks={"pump": cluster.pump},
    )
