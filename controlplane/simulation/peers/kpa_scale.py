"""How many pods Knative's autoscaler (KPA) wants: stable and panic windows of concurrency."""

from dataclasses import dataclass, replace
from math import ceil, floor
from typing import NamedTuple

from controlplane.domain.quantities import Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class KpaSpec:
    """config-autoscaler with its documented defaults."""

    concurrency: float
    """containerConcurrency: requests a pod takes at once."""
    target_share: float = 0.70
    stable_window_s: float = 60.0
    panic_window_s: float = 6.0
    panic_threshold: float = 2.0
    max_up_rate: float = 1000.0
    max_down_rate: float = 2.0
    activation_scale: int = 1
    reachable: bool = True
    tick_s: float = 2.0

    @property
    def target(self) -> float:
        """Concurrency per pod that is aimed at."""
        return max(0.01, self.concurrency * self.target_share)


@dataclass(frozen=True, slots=True)
class KpaMemory:
    """Whether it panics (since when) and the most it wanted while it did."""

    panic_since: Instant | None = None
    most_in_panic: int = 0


def first_tick(now: Instant, ready: int) -> KpaMemory:
    """Begin in panic at the present size when more than one pod is ready: history is unknown."""
    return KpaMemory(now, ready) if ready > 1 else KpaMemory()


class Wanted(NamedTuple):
    """What the two windows ask for, and whether the short one is over the threshold."""

    stable: int
    panic: int
    over: bool


def wanted(ready: int, stable_average: float, panic_average: float, spec: KpaSpec) -> Wanted:
    """Turn total concurrency, averaged over both windows, into pods."""
    pods = max(1, ready)
    for_stable = ceil(stable_average / spec.target)
    for_panic = ceil(panic_average / spec.target)
    most = ceil(spec.max_up_rate * pods)
    least = floor(pods / spec.max_down_rate) if spec.reachable else 0
    stable = min(max(for_stable, least), most)
    panic = min(max(for_panic, least), most)
    if spec.activation_scale > 1:
        stable = max(stable, spec.activation_scale) if for_stable > 0 else stable
        panic = max(panic, spec.activation_scale) if for_panic > 0 else panic
    return Wanted(stable, panic, for_panic / pods >= spec.panic_threshold)


def desired(now: Instant, asked: Wanted, spec: KpaSpec, memory: KpaMemory) -> tuple[int, KpaMemory]:
    """Give the pods to run: never fewer while it panics, and until a stable window after."""
    if asked.over:
        memory = replace(memory, panic_since=now)
    elif memory.panic_since is not None and memory.panic_since + spec.stable_window_s < now:
        memory = KpaMemory()
    if memory.panic_since is None:
        return asked.stable, memory
    most = max(memory.most_in_panic, asked.stable, asked.panic)
    return most, replace(memory, most_in_panic=most)
