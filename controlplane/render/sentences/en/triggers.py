"""Triggers of scaling: what was seen against its limit."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

TRIGGERS: Table = {
    C.DRAIN_TOO_SLOW: Wording(
        "Drain time too long",
        "its queue [would take {seen} to drain|drains too slowly][ and {limit} is the limit]",
        "Drain time is the queue divided by what the replicas in service get done per second. "
        "Above its limit the target rises to the number that drains the queue in time.",
    ),
    C.DRAIN_WITHIN: Wording(
        "Drain time",
        "its queue drains [in {seen}|in time][, within the limit of {limit}]",
        "The queue would drain within the limit, so this signal asks for nothing.",
    ),
    C.WAIT_P99_BROKEN: Wording(
        "P99 wait broken",
        "99 of 100[ {class}] requests wait up to [{seen}|longer than promised]"
        "[ and {limit} was promised]",
        "The wait from arrival to a slot breaks what this priority class was promised.",
    ),
    C.LATENCY_P99_BROKEN: Wording(
        "P99 latency broken",
        "99 of 100[ {class}] requests end only within [{seen}|more than was promised]"
        "[ and {limit} was promised]",
        "The time from arrival to the last byte, service included, breaks what this priority "
        "class was promised.",
    ),
    C.P99_WITHIN: Wording(
        "P99",
        "the P99 [is {seen}|is known][, within its limit of {limit}]",
        "Every class gets what it was promised, so this signal asks for nothing.",
    ),
    C.MEMORY_ABOVE_WATERMARK: Wording(
        "Memory above watermark",
        "its KV cache [is {seen} full|is too full][ and the watermark is {limit}]",
        "Near a full KV cache an engine evicts and recomputes, so every request gets slower. "
        "The target rises until the load spreads out below the watermark.",
    ),
    C.MEMORY_WITHIN: Wording(
        "Memory",
        "its KV cache [is {seen} full|has room][, below the watermark of {limit}]",
        "Memory is below the watermark, so this signal asks for nothing.",
    ),
    C.OFFERED_LOAD_HIGH: Wording(
        "Offered load too high",
        "arrivals ask for [{seen} of its slots|more than its slots][ and {limit} is the ceiling]",
        "Offered load is arrivals, the refused ones included, times mean service time, over "
        "the slots in service. It shows an overload that bounded queues hide.",
    ),
    C.OFFERED_LOAD_WITHIN: Wording(
        "Offered load",
        "arrivals ask for [{seen} of its slots|less than its slots]"
        "[, below the ceiling of {limit}]",
        "The slots in service suffice for what arrives, so this signal asks for nothing.",
    ),
    C.TURNED_AWAY: Wording(
        "Requests turned away",
        "requests were turned away for want of capacity[ ({seen})]",
        "A request refused for want of capacity counts as a broken limit. It is answered with "
        "just enough capacity, not with the comfort kept in quiet times.",
    ),
    C.BUSY_AND_QUEUED: Wording(
        "Busy, and queued",
        "its devices are [{seen} busy|busy][, above {limit},] while requests wait",
        "Busy devices alone are no overload; together with a waiting queue they are.",
    ),
    C.UTILISATION_HIGH: Wording(
        "Utilisation high",
        "its devices are [{seen} busy|busy][ and {limit} is the ceiling]",
        "Set by policy only: device utilisation raises the target by itself. "
        "Utilisation is not load; other signals are better.",
    ),
    C.UTILISATION_LOW: Wording(
        "Utilisation low",
        "its devices are only [{seen} busy|little busy][ and {limit} is the floor]",
        "Set by policy only: below this utilisation one replica fewer is proposed.",
    ),
    C.DEPTH_ABOVE_TARGET: Wording(
        "Queue depth above target",
        "the queue per replica is [{seen}|too deep][ and {limit} is the target]",
        "Set by policy only: a weighted queue depth per replica is held at a target.",
    ),
    C.DEPTH_WITHIN: Wording(
        "Queue depth",
        "the queue per replica [is {seen}|is short][, within {limit}]",
        "The weighted queue depth per replica is within its target.",
    ),
    C.FEWER_SUFFICE: Wording(
        "Fewer suffice",
        "fewer replicas suffice[ and would be {seen} loaded][, under the ceiling of {limit}]",
        "Computed, not tried: those that stay would keep offered load under its ceiling and "
        "every wait within its limit, by the formulas of queueing theory.",
    ),
}
