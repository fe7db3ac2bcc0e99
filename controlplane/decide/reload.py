"""Whether a changed fleet file comes into force: a sound one does, a faulty one is refused whole.

Reading and validating is not pure and lies before; what is decided on is the outcome.
"""

import msgspec

from controlplane.domain.actions import ApplyCatalogue
from controlplane.domain.decisions import Choice, Target
from controlplane.domain.overrides import FLEET
from controlplane.domain.reasons import Evidence, ReasonCode


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A fleet file's text as it was found changed, and its faults, if any."""

    text: str
    source: str
    version: int  # in force when it was found
    models: int  # in force when it was found
    models_then: int = 0
    faults: tuple[str, ...] = ()


def decide_reload(seen: Candidate) -> Choice:
    """Apply a sound file, refuse a faulty one; the figure is the number of models."""
    target = Target(seen.models)
    source = Evidence("source", seen.source)
    if seen.faults:
        faults = (Evidence("faults", len(seen.faults)), Evidence("first", seen.faults[0]))
        target = target.note(ReasonCode.CATALOGUE_REFUSED, source, *faults)
    else:
        replaced = Evidence("replaces", seen.version)
        target = target.move(seen.models_then, ReasonCode.CATALOGUE_APPLIED, source, replaced)
    return Choice(
        subject=FLEET,
        current=seen.models,
        target=target.replicas,
        trail=target.trail,
        actions=() if seen.faults else (ApplyCatalogue(seen.source),),
        seen=seen,
    )
