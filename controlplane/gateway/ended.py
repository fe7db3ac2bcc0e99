"""The end of a request that was on its way to an engine."""

from typing import NamedTuple

from controlplane.decide.breakers.answers import Meaning


class Ended(NamedTuple):
    """Whose request, what its end counts as, and whether it was a probe."""

    model: str
    meant: Meaning
    probe: bool
