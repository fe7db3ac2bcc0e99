"""Names and units. A name of one kind is never given where another is meant."""

from decimal import Decimal
from math import isfinite
from typing import Annotated, NewType

from annotated_types import Ge, Gt, Interval, Le

ModelName = NewType("ModelName", str)
ClassName = NewType("ClassName", str)  # of a node class, e.g. "A100-80G"
NodeName = NewType("NodeName", str)
ReplicaName = NewType("ReplicaName", str)
Zone = NewType("Zone", str)
Team = NewType("Team", str)

Instant = float  # seconds since 1970-01-01 UTC; the store turns it into a UtcDateTime
Seconds = Annotated[float, Ge(0)]
PositiveSeconds = Annotated[float, Gt(0)]
Gib = Annotated[float, Gt(0)]  # 2**30 bytes
Ratio = Annotated[float, Interval(gt=0, le=1)]
Share = Annotated[float, Interval(ge=0, le=1)]
Count = Annotated[int, Ge(0)]
PositiveCount = Annotated[int, Gt(0)]
Importance = Annotated[int, Ge(1), Le(9)]  # 1 is served first when the last device is given away
Price = Annotated[Decimal, Ge(0), Le(10**9)]  # per device and hour, in the catalogue's currency

Micros = NewType("Micros", int)  # millionths of the catalogue's currency

MICROS_PER_UNIT = 1_000_000


def micros(amount: Decimal) -> Micros:
    """Turn an amount of the currency into whole millionths, half away from zero."""
    scaled = amount * MICROS_PER_UNIT
    return Micros(int(scaled.to_integral_value(rounding="ROUND_HALF_UP")))


def finite(x: float) -> bool:
    """Say whether a number may take part in arithmetic."""
    return isfinite(x)
