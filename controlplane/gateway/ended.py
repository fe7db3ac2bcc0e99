"""The end of a request that was on its way to an engine, and how workers write it down."""

from typing import NamedTuple

from controlplane.decide.breakers.answers import Meaning

MARKS = {Meaning.WELL: "w", Meaning.BROKEN: "b", Meaning.NEITHER: "n"}
MEANT = {mark: meant for meant, mark in MARKS.items()}


class Ended(NamedTuple):
    """Whose request, what its end counts as, and whether it was a probe."""

    model: str
    meant: Meaning
    probe: bool
