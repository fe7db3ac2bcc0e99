"""What a run came to: the figures scripts read, in total and by model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import ModelName
from controlplane.simulation.world import ClassTally, Histogram, Observation, Tally

HOUR_S = 3600.0


@dataclass(slots=True)
class Course:
    """How targets and the fleet in service moved, noted cycle by cycle."""

    moves: dict[ModelName, list[int]] = field(default_factory=dict)
    most_serving: int = 0

    def note(self, seen: Observation, targets: Mapping[ModelName, int]) -> None:
        """Keep every new target, and the largest fleet in service."""
        serving = sum(replica.serving for replica in seen.view.replicas)
        self.most_serving = max(self.most_serving, serving)
        for model, target in targets.items():
            moved = self.moves.setdefault(model, [])
            if not moved or moved[-1] != target:
                moved.append(target)

    def direction_changes(self, model: ModelName) -> int:
        """Count how often a model's target turned from rising to falling or back."""
        return direction_changes(self.moves.get(model, ()))


def direction_changes(targets: Sequence[int]) -> int:
    """Count the turns of a series that never repeats a figure at once."""
    rises = [after > before for before, after in pairwise(targets)]
    return sum(one != other for one, other in pairwise(rises))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A finished run, before it is worded."""

    scenario: str
    policy: str
    seed: int
    tallies: Mapping[ModelName, Tally]
    bounds: Mapping[ModelName, float | None]
    course: Course
    wall_s: float


def report(ran: Ran) -> dict[str, Any]:
    """Word a run; with several models the same figures again by model."""
    arrived = sum(one.arrived for tally in ran.tallies.values() for one in tally.classes.values())
    total = {
        "scenario": ran.scenario,
        "policy": ran.policy,
        "seed": ran.seed,
        **_figures(list(ran.tallies.values()), list(ran.bounds.values())),
        "direction_changes": sum(ran.course.direction_changes(model) for model in ran.tallies),
        "max_replicas": _most_serving(ran),
        "reaction_s": _rounded(_reaction_s(ran.tallies.values())),
        "requests_per_s": round(arrived / ran.wall_s) if ran.wall_s > 0 else None,
    }
    if len(ran.tallies) > 1:
        total["models"] = {
            model: {
                **_figures([tally], [ran.bounds[model]]),
                "direction_changes": ran.course.direction_changes(model),
                "max_replicas": tally.max_serving,
                "reaction_s": _rounded(tally.reaction_s),
            }
            for model, tally in ran.tallies.items()
        }
    return total


def _figures(tallies: Sequence[Tally], bounds: Sequence[float | None]) -> dict[str, Any]:
    billed = sum(tally.billed_slot_s for tally in tallies)
    busy = sum(tally.busy_slot_s for tally in tallies)
    known = [bound for bound in bounds if bound is not None]
    return {
        "gpu_hours": _rounded(sum(tally.device_s for tally in tallies) / HOUR_S),
        "bound_gpu_hours": _rounded(sum(known)) if len(known) == len(bounds) else None,
        "idle_ratio": _rounded(1 - busy / billed) if billed else None,
        "classes": {
            str(priority): class_figures([tally.classes[priority] for tally in tallies])
            for priority in PRIORITIES
        },
    }


def class_figures(parts: Sequence[ClassTally]) -> dict[str, Any]:
    """Give the figures of one class, of all its models together."""
    wait, latency = Histogram(), Histogram()
    for part in parts:
        wait.merge(part.wait)
        latency.merge(part.latency)
    arrived = sum(part.arrived for part in parts)
    return {
        "arrived": arrived,
        "served": sum(part.served for part in parts),
        "rejected": sum(sum(part.rejected.values()) for part in parts),
        "wait_p50_s": _rounded(wait.quantile(0.5)),
        "wait_p99_s": _rounded(wait.quantile(0.99)),
        "wait_max_s": _rounded(wait.max) if wait.count else None,
        "latency_p50_s": _rounded(latency.quantile(0.5)),
        "latency_p99_s": _rounded(latency.quantile(0.99)),
        "in_time_ratio": (
            _rounded(sum(part.in_time for part in parts) / arrived) if arrived else None
        ),
    }


def _most_serving(ran: Ran) -> int:
    """Give the most replicas in service at once; of one model the world counted them itself."""
    if len(ran.tallies) == 1:
        return next(iter(ran.tallies.values())).max_serving
    return ran.course.most_serving


def _reaction_s(tallies: Iterable[Tally]) -> float | None:
    """Give the slowest model's reaction: the one whose callers waited longest for help."""
    reactions = [tally.reaction_s for tally in tallies if tally.reaction_s is not None]
    return max(reactions, default=None)


def _rounded(x: float | None) -> float | None:
    return None if x is None else round(x, 6)
