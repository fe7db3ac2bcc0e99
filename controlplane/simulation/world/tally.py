"""What a world counted for one model since its start: the figures reports are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.quantities import Instant
from controlplane.domain.reasons import ReasonCode
from controlplane.simulation.world.histograms import Histogram


@dataclass(slots=True)
class ClassTally:
    """One priority class. arrived = served + rejected + failed + still waiting."""

    arrived: int = 0
    served: int = 0  # got a slot and kept it; those still running at the end included
    failed: int = 0  # got a slot and were cut off: their replica died or was deleted
    in_time: int = 0  # served, with a wait within the class's `wait_p99_s`
    rejected: dict[ReasonCode, int] = field(default_factory=dict)
    wait: Histogram = field(default_factory=Histogram)  # arrival to slot, of the served
    latency: Histogram = field(default_factory=Histogram)  # arrival to last byte, of the served


@dataclass(slots=True)
class Tally:
    """One model. Slot and device time run from each replica's creation to its deletion."""

    classes: Mapping[Priority, ClassTally] = field(
        default_factory=lambda: {priority: ClassTally() for priority in PRIORITIES}
    )
    busy_slot_s: float = 0.0
    billed_slot_s: float = 0.0
    device_s: float = 0.0  # spares included
    max_serving: int = 0
    first_breach_at: Instant | None = None  # a wait broke its limit, or a request was turned away
    first_added_serving_at: Instant | None = None  # first capacity added in service after that

    @property
    def reaction_s(self) -> float | None:
        """Seconds from the first breach to the first added capacity serving."""
        if self.first_breach_at is None or self.first_added_serving_at is None:
            return None
        return self.first_added_serving_at - self.first_breach_at
