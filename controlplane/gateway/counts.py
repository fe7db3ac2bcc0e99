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
        self._kept: Tallies = {}
        self._kept_unplaced: dict[str, int] = {}

    def take(self, worker: int, counted: Counted) -> None:
        """Take a worker's newest report."""
        self._latest[worker] = counted

    def ended(self, worker: int) -> None:
        """Keep what a worker had counted; nothing waits or runs there any more."""
        last = self._latest.pop(worker, None)
        if last is None:
            return
        for tallies in last.models.values():
            for tally in tallies:
                tally.queued = tally.running = 0
                tally.oldest_s = 0.0
        _add(self._kept, last.models)
        for reason, count in last.unplaced.items():
            self._kept_unplaced[reason] = self._kept_unplaced.get(reason, 0) + count

    def sums(self) -> Tallies:
        """Give the sums, by model and class."""
        total: Tallies = {}
        for models in (self._kept, *(counted.models for counted in self._latest.values())):
            _add(total, models)
        return total

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
        for counted in self._latest.values():
            for model, count in counted.running.items():
                total[model] = total.get(model, 0) + count
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


def _add(total: Tallies, models: Mapping[str, list[ClassTally]]) -> None:
    for name, tallies in models.items():
        of_model = total.setdefault(name, [ClassTally() for _ in PRIORITIES])
        for mine, other in zip(of_model, tallies, strict=True):
            mine.merge(other)
