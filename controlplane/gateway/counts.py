"""What all workers counted, added up; what a worker had counted when it ended is kept."""

from collections.abc import Mapping

from controlplane.domain.priorities import PRIORITIES
from controlplane.gateway.messages import Counted
from controlplane.gateway.tally import ClassTally

Tallies = dict[str, list[ClassTally]]


class Counts:
    """Sums over workers."""

    def __init__(self) -> None:
        """Start at zero."""
        self._latest: dict[int, Counted] = {}
        self._models: dict[int, Tallies] = {}
        self._kept: Tallies = {}
        self._kept_unplaced: dict[str, int] = {}

    def take(self, worker: int, counted: Counted) -> None:
        """Take a worker's newest report; models it does not name are as they were."""
        self._latest[worker] = counted
        self._models.setdefault(worker, {}).update(counted.models)

    def ended(self, worker: int) -> None:
        """Keep what a worker had counted; nothing waits or runs there any more."""
        last, models = self._latest.pop(worker, None), self._models.pop(worker, {})
        if last is None:
            return
        for tallies in models.values():
            for tally in tallies:
                tally.over()
        self._kept = _merged(self._kept, models)
        for reason, count in last.unplaced.items():
            self._kept_unplaced[reason] = self._kept_unplaced.get(reason, 0) + count

    def sums(self) -> Tallies:
        """Give the sums, by model and class; what is given is never changed afterwards."""
        parts = [part for part in (self._kept, *self._models.values()) if part]
        return _merged(*parts) if len(parts) > 1 else dict(parts[0]) if parts else {}

    @property
    def unplaced(self) -> dict[str, int]:
        """Refusals before any model was found, by reason."""
        total = dict(self._kept_unplaced)
        for counted in self._latest.values():
            for reason, count in counted.unplaced.items():
                total[reason] = total.get(reason, 0) + count
        return total

    @property
    def running(self) -> dict[str, int]:
        """Requests some worker has a stream of, by model."""
        total: dict[str, int] = {}
        for models in self._models.values():
            for model, tallies in models.items():
                total[model] = total.get(model, 0) + sum(tally.running for tally in tallies)
        return total

    @property
    def degraded(self) -> bool:
        """Say whether a worker cannot reach what shares the slots out."""
        return any(counted.degraded for counted in self._latest.values())

    @property
    def shared_s(self) -> tuple[int, float]:
        """Give how often and how long slots were asked for in Redis."""
        spent = [counted.shared_s for counted in self._latest.values()]
        return sum(times for times, _ in spent), sum(seconds for _, seconds in spent)


def _merged(*parts: Mapping[str, list[ClassTally]]) -> Tallies:
    total: Tallies = {}
    for models in parts:
        for name, tallies in models.items():
            of_model = total.setdefault(name, [ClassTally() for _ in PRIORITIES])
            for mine, other in zip(of_model, tallies, strict=True):
                mine.merge(other)
    return total
