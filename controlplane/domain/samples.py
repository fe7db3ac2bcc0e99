"""A sample is one observed value, or the reason why there is none. No data is not zero.

Only `Value` and `Zero` reach arithmetic, through `x`: their number, and None in the other three,
which say why they have none: nobody answered (`NoData`), the answer is too old (`Stale`), or it was
no number (`Bad`).
"""

from enum import StrEnum
from math import isfinite
from typing import ClassVar, TypeAlias

import msgspec

from controlplane.domain.quantities import Instant


class Absence(StrEnum):
    """Why nobody answered."""

    EMPTY = "Empty"  # the query matched no series
    UNREACHABLE = "Unreachable"  # connection refused, time-out, HTTP status other than 200
    FORBIDDEN = "Forbidden"
    TOO_FEW = "TooFew"  # too few of the replicas answered to speak for all
    IDLE = "Idle"  # a percentile of no requests: undefined, and that is fine
    NOT_EXPORTED = "NotExported"  # the engine answers but does not know this signal
    TOO_COARSE = "TooCoarse"  # the engine's buckets cannot tell on which side of the limit it is
    NOT_YET = "NotYet"  # nothing was asked so far


class Value(msgspec.Struct, frozen=True, tag=True, gc=False):
    """A finite number that was true at `at`."""

    x: float
    at: Instant


class Zero(msgspec.Struct, frozen=True, tag=True, gc=False):
    """A confirmed zero: the source answered and said none."""

    at: Instant
    x: ClassVar[float] = 0.0


class NoData(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Nobody answered."""

    why: Absence
    note: str = ""  # e.g. the names that were looked for
    x: ClassVar[None] = None


class Stale(msgspec.Struct, frozen=True, tag=True, gc=False):
    """The last answer is older than the limit."""

    age_s: float
    x: ClassVar[None] = None


class Bad(msgspec.Struct, frozen=True, tag=True, gc=False):
    """The answer was no usable number: NaN, infinite, negative where it cannot be, or text."""

    raw: str
    x: ClassVar[None] = None


Sample: TypeAlias = Value | Zero | NoData | Stale | Bad
Known: TypeAlias = Value | Zero

NOT_YET = NoData(Absence.NOT_YET)
IDLE = NoData(Absence.IDLE)


def reading(raw: object, at: Instant, *, may_be_negative: bool = False) -> Sample:
    """Turn what a source said into a sample; whatever is no finite number becomes `Bad`."""
    try:
        x = float(raw)  # type: ignore[arg-type]  # anything may arrive; the except is the check
    except (TypeError, ValueError):
        return Bad(repr(raw)[:80])
    if not isfinite(x) or (x < 0 and not may_be_negative):
        return Bad(repr(raw)[:80])
    return Value(x, at) if x else Zero(at)


def number(sample: Sample) -> float | None:
    """Give the number of a known sample, else None: `x`, where a function is wanted."""
    return sample.x


def known(sample: Sample) -> bool:
    """Say whether the sample may reach arithmetic."""
    return sample.x is not None


def fresh(sample: Sample, now: Instant, limit_s: float) -> Sample:
    """Give the sample back, or `Stale` with its age when it is older than the limit."""
    if isinstance(sample, Value | Zero) and now - sample.at > limit_s:
        return Stale(now - sample.at)
    return sample
