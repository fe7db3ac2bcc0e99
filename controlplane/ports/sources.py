"""Where the signals of a model come from, to be shown."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from controlplane.domain.samples import Sample


class PassedOver(msgspec.Struct, frozen=True, kw_only=True):
    """A source that was asked first, and why it was not believed."""

    source: str
    why: str


class SignalRead(msgspec.Struct, frozen=True, kw_only=True):
    """One signal of a model: what it is, who says so, and who could not."""

    signal: str
    source: str  # empty where nobody knows
    value: float | None
    why: str  # why there is no value; empty where there is one
    age_s: float | None
    query: str  # what was asked, where a query was
    passed_over: tuple[PassedOver, ...]
    sample: Sample


class SignalReads(Protocol):
    """The sources of the signals."""

    def sources(self, model: str) -> Sequence[SignalRead] | None:
        """Give every signal of a model; None where it is not known."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Give what the sources had to say besides: warnings, labels that name nobody."""
        ...
