"""A number to show, or the reason why there is none."""

import msgspec

from controlplane.domain.quantities import Instant
from controlplane.domain.samples import Absence, Bad, NoData, Sample, Stale, Value, Zero

SparkPoints = tuple[tuple[Instant, float | None], ...]


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A number beside the limit it is held against; without a number it says why and since."""

    value: float | None
    limit: float | None = None
    unit: str = ""
    why: str | None = None  # an `Absence`, "Stale" or "Bad"; None when there is a value
    since: Instant | None = None  # when it was last known, where that can be said

    @property
    def beyond(self) -> bool:
        """Say whether it is known to be above its limit."""
        return self.value is not None and self.limit is not None and self.value > self.limit


def figure(sample: Sample, now: Instant, limit: float | None = None, unit: str = "") -> Figure:
    """Turn a sample into something to show."""
    match sample:
        case Value(x=x):
            return Figure(value=x, limit=limit, unit=unit)
        case Zero():
            return Figure(value=0.0, limit=limit, unit=unit)
        case NoData(why=why):
            return Figure(value=None, limit=limit, unit=unit, why=str(why))
        case Stale(age_s=age_s):
            return Figure(value=None, limit=limit, unit=unit, why="Stale", since=now - age_s)
        case Bad():
            return Figure(value=None, limit=limit, unit=unit, why="Bad")


def unknown(why: str = Absence.NOT_YET, *, limit: float | None = None, unit: str = "") -> Figure:
    """Give a figure of which nothing is known."""
    return Figure(value=None, limit=limit, unit=unit, why=str(why))
