"""Decide a stored decision again, with the code of today, from its stored input.

The journal keeps each choice's exact input as JSON. Which type it is, and which function decides
on it, is known here by the loop's name; a loop whose rows can be replayed adds itself.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from controlplane.decide.breakers.happenings import BreakerSeen, decide_breaker
from controlplane.decide.costs.cycle import Metered, decide_metered
from controlplane.decide.placement.squatting import Squatting, decide_squatting
from controlplane.decide.reload import Candidate, decide_reload
from controlplane.decide.scaling.decision import decide_scale
from controlplane.decide.scaling.inputs import ScaleInput
from controlplane.decide.spare.inputs import SpareInput
from controlplane.decide.spare.lanes import decide_spare
from controlplane.decide.workloads.cycle import WorkloadsInput, decide_workloads
from controlplane.domain.decisions import Choice


class Decider(NamedTuple):
    """How one loop's stored inputs are read and decided on."""

    reads: type[msgspec.Struct]
    decides: Callable[[Any], Choice]


DECIDERS: dict[str, Decider] = {
    "scaling": Decider(ScaleInput, decide_scale),
    "spare": Decider(SpareInput, decide_spare),
    "placement": Decider(Squatting, decide_squatting),
    "metering": Decider(Metered, decide_metered),
    "catalogue": Decider(Candidate, decide_reload),
    "breakers": Decider(BreakerSeen, decide_breaker),
    "workloads": Decider(WorkloadsInput, decide_workloads),
}


def decide_again(loop: str, seen: bytes) -> Choice:
    """Decode the input and decide; ValueError when the loop or the input is not understood."""
    decider = DECIDERS.get(loop)
    if decider is None:
        raise ValueError(f"loop: {loop!r} has no replay; one of {', '.join(sorted(DECIDERS))}")
    try:
        read = msgspec.json.decode(seen, type=decider.reads)
    except msgspec.MsgspecError as cause:
        raise ValueError(f"input: written by another version: {cause}") from cause
    return decider.decides(read)
