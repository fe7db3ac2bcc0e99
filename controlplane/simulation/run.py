"""The driver: let the world go on, let a policy look, carry out what it wants, until the end."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from controlplane.domain.actions import Action
from controlplane.domain.quantities import Instant, ModelName
from controlplane.simulation.world import Observation, World

Progress = Callable[[float], None]  # gets the share that is done; raise in it to stop the run


class Policy(Protocol):
    """Whoever decides: our own cycles, or a peer."""

    @property
    def period_s(self) -> float:
        """Seconds between two looks."""
        ...

    @property
    def wakes(self) -> bool:
        """Whether it may be called early, when something happened."""
        ...

    @property
    def targets(self) -> Mapping[ModelName, int]:
        """Replicas wanted in service now."""
        ...

    def cycle(self, seen: Observation) -> Sequence[Action]:
        """Decide on what was seen."""
        ...


class Watcher(Protocol):
    """Takes notes while a run goes on."""

    def note(self, seen: Observation, targets: Mapping[ModelName, int]) -> None:
        """Look at one cycle, after it decided."""
        ...


def drive(
    world: World,
    policy: Policy,
    until: Instant,
    watchers: Sequence[Watcher] = (),
    progress: Progress | None = None,
) -> None:
    """Run a world under a policy up to `until`."""
    start = world.now
    due = start  # the first look comes before the first request
    while world.now < until:
        if world.now >= due:
            due += policy.period_s
        seen = world.observe()
        for action in policy.cycle(seen):
            world.apply(action)
        for watcher in watchers:
            watcher.note(seen, policy.targets)
        world.advance(min(due, until), wake=policy.wakes)
        if progress is not None:
            progress((world.now - start) / (until - start))
