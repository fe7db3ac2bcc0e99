"""Admission: who gets the next slot, who waits, who is refused."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

ADMISSION: Table = {
    C.ADMITTED: Wording(
        "Admitted",
        "a slot was free",
        "The request got a slot at once or when its turn came.",
    ),
    C.QUEUED: Wording(
        "Queued",
        "every slot is taken[ and {seen} requests wait]",
        "The request waits in the queue of its priority class.",
    ),
    C.QUEUE_FULL: Wording(
        "Queue full",
        "the[ {class}] queue is full[ with {limit} requests]",
        "Each class may have only so many waiting; the next one is refused with 429.",
    ),
    C.QUEUE_BYTES_FULL: Wording(
        "Queue full (bytes)",
        "the[ {class}] queue holds too many bytes[: {limit} are allowed]",
        "Waiting bodies are bounded in bytes too; the one that exceeds it is refused with 429.",
    ),
    C.NO_ENDPOINTS: Wording(
        "No endpoints",
        "no replica is in service",
        "Nothing exists that could serve the request: 503, not 429.",
    ),
    C.WAITED_TOO_LONG: Wording(
        "Waited too long",
        "the request waited [{seen}|too long][ and {limit} is allowed]",
        "A request that waited past its class's limit is refused with 429.",
    ),
    C.PROMPT_TOO_LONG: Wording(
        "Prompt too long",
        "the prompt has [{seen} tokens|too many tokens][ and {limit} are allowed]",
        "Very long inputs double an engine's memory; the model's limit refuses them.",
    ),
    C.TOO_HEAVY: Wording(
        "Too heavy",
        "the request weighs [{seen} slots|more slots][ and a replica has {limit}]",
        "A request that outweighs a whole replica can never be served.",
    ),
    C.AGED: Wording(
        "Aged",
        "the request waited [{seen}|long] and moves up one class",
        "Waiting long moves a request up one class, once; it keeps its arrival time.",
    ),
    C.MINIMUM_SERVICE: Wording(
        "Minimum service",
        "the longest waiting request gets the slot, whatever its class",
        "Once in a while the longest waiting request is served first, so nobody starves.",
    ),
    C.GUARANTEED: Wording(
        "Guaranteed",
        "class[ {class}] gets its guaranteed share of slots",
        "A class below its guaranteed share is served before higher classes.",
    ),
}
