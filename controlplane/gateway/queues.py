"""Who waits at the gateway, out of what its workers counted."""

from collections.abc import Sequence

from controlplane.domain.gateway import GatewayPlan, ServedModel
from controlplane.domain.priorities import PRIORITIES
from controlplane.domain.quantities import Instant
from controlplane.domain.queues import ClassQueue, ModelQueue, Passed, Queues, between
from controlplane.domain.reasons import ReasonCode
from controlplane.gateway.past import NOTHING, Past
from controlplane.gateway.tally import ClassTally

LATELY_S = 60.0


def queues(plan: GatewayPlan, past: Past, since: Instant) -> Queues:
    """Give the queues of every model in the plan; none before the first look."""
    if past.latest is None:
        return {}
    at, sums = past.latest
    return {
        model.name: _queue(model, sums.get(model.name, NOTHING), past, at, since)
        for model in plan.models
    }


def _queue(
    model: ServedModel, new: Sequence[ClassTally], past: Past, at: Instant, since: Instant
) -> ModelQueue:
    then, old = past.before(model.name, at - LATELY_S)
    return ModelQueue(
        at=at,
        since=since,
        lately_s=at - then,
        slots=sum(endpoint.slots for endpoint in model.serving),
        lent=sum(endpoint.slots for endpoint in model.lending),
        ready=sum(endpoint.taking for endpoint in model.serving),
        held=sum(not endpoint.taking for endpoint in model.serving),
        classes={
            priority: ClassQueue(
                waiting=tally.queued,
                oldest_s=tally.oldest_s,
                in_flight=tally.slots,
                lately=between(passed(tally), passed(before)),
                counted=passed(tally),
                tenants=tally.tenants,
            )
            for priority, tally, before in zip(PRIORITIES, new, old, strict=True)
        },
    )


def passed(tally: ClassTally) -> Passed:
    """Give what a tally says of those who came."""
    return Passed(
        arrived=tally.arrived,
        admitted=tally.admitted,
        aged=tally.aged,
        minimum=tally.minimum,
        left=tally.left,
        refused={ReasonCode(code): count for code, count in tally.refused.items()},
    )
