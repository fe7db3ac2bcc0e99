"""Who waits at a front door now, and what became of those who came. Counted, never estimated."""

from collections.abc import Mapping

import msgspec

from controlplane.domain.priorities import Priority
from controlplane.domain.quantities import Instant, ModelName
from controlplane.domain.reasons import ReasonCode

REFUSALS = (
    ReasonCode.QUEUE_FULL,
    ReasonCode.QUEUE_BYTES_FULL,
    ReasonCode.NO_ENDPOINTS,
    ReasonCode.WAITED_TOO_LONG,
    ReasonCode.PROMPT_TOO_LONG,
    ReasonCode.TOO_HEAVY,
    ReasonCode.DEADLINE_PASSED,
    ReasonCode.BREAKER_OPEN,
)
"""Why a request for a known model is refused at the door."""


class Passed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the requests of one class over a stretch of time."""

    arrived: int = 0  # the refused included
    admitted: int = 0
    aged: int = 0  # of the admitted: one class higher, for they had waited long
    minimum: int = 0  # of the admitted: by minimum service
    left: int = 0  # clients that went away while they waited
    refused: Mapping[ReasonCode, int] = {}


class ClassQueue(msgspec.Struct, frozen=True, kw_only=True):
    """One class at one model's front door."""

    waiting: int
    oldest_s: float  # how long the longest waiting has waited; 0 where nobody waits
    in_flight: int  # slots held
    lately: Passed  # over the last `ModelQueue.lately_s`
    counted: Passed  # from `ModelQueue.since` on
    tenants: Mapping[str, int] = {}  # who waits, those with most requests first; not all of them


class ModelQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A model's front door."""

    at: Instant
    since: Instant  # counted from then on
    lately_s: float  # 0: there was no look before this one, so nothing is known of late
    slots: int  # K, of the replicas in service
    lent: int  # further ones, of lending spares: for low alone
    ready: int  # replicas that take requests
    held: int = 0  # replicas in service that get nothing new: they drain, or have too much already
    classes: Mapping[Priority, ClassQueue]


Queues = Mapping[ModelName, ModelQueue]


def between(new: Passed, old: Passed) -> Passed:
    """Give what was counted after `old`."""
    refused = {code: count - old.refused.get(code, 0) for code, count in new.refused.items()}
    return Passed(
        arrived=new.arrived - old.arrived,
        admitted=new.admitted - old.admitted,
        aged=new.aged - old.aged,
        minimum=new.minimum - old.minimum,
        left=new.left - old.left,
        refused={code: count for code, count in refused.items() if count},
    )
