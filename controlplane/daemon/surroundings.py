"""What a daemon runs on: the embedded world, or a real cluster. The loops know no difference."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from controlplane.clock import Clock
from controlplane.domain.catalogue import Catalogue
from controlplane.loops.in_memory import SoleLeader
from controlplane.ports import Cluster, Leadership, Signals
from controlplane.settings import ServeOptions
from controlplane.simulation.embedded import embedded

EMBEDDED = "embedded-"  # begins the name of every world that ends with its process

Task: TypeAlias = Callable[[], Awaitable[NoReturn]]


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


def embedded_surroundings(
    catalogue: Catalogue, clock: Clock, options: ServeOptions
) -> Surroundings:
    """Build a world from the fleet file; it ends with the process."""
    cluster = embedded(catalogue, clock, options.seed)

    def on_news(wake: Callable[[], None]) -> None:
        cluster.wake = wake

    return Surroundings(
        world=f"{EMBEDDED}{int(clock.now())}",
        title="embedded",
        acts=True,
        cluster=cluster,
        signals=cluster,
        swap_catalogue=cluster.swap_catalogue,
        on_news=on_news,
        tasks={"pump": cluster.pump},
    )
