"""The gateway: who may not pass, and what breakers do."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

GATEWAY: Table = {
    C.UNKNOWN_MODEL: Wording(
        "Unknown model",
        "no model is known by [the name {model}|that name]",
        "The request names no model of the catalogue that its key may see: 404.",
    ),
    C.KEY_UNKNOWN: Wording(
        "Unknown key",
        "the key is not known",
        "The request carries a key nobody was given, or none where one is required: 401.",
    ),
    C.BODY_TOO_LARGE: Wording(
        "Body too large",
        "the body has [{seen} bytes|too many bytes][ and {limit} are allowed]",
        "A body larger than the gateway holds is refused before it is read: 413.",
    ),
    C.DEADLINE_PASSED: Wording(
        "Deadline passed",
        "the caller's deadline passed while it waited",
        "Whoever sets a deadline is told when it passes in the queue: nothing is run in vain.",
    ),
    C.EVICTED: Wording(
        "Evicted",
        "it was ended to make room for class high",
        "Where the gateway may evict, a running low request gives its slot to a high one: 429.",
    ),
    C.BREAKER_OPEN: Wording(
        "Breaker open",
        "its breaker is open",
        "The model fails; requests are refused at once, so that nobody waits for nothing.",
    ),
    C.BREAKER_OPENED: Wording(
        "Breaker opened",
        "[{seen}|too many] answers in a row were broken[ and {limit} is the limit]",
        "Broken answers, timeouts and resets in a row open a model's breaker; 429 and a busy 503"
        " do not count.",
    ),
    C.BREAKER_PROBING: Wording(
        "Breaker probing",
        "it was left alone for [{seen}|its time] and one request probes it",
        "After its time an open breaker lets one request through, and waits for how it ends.",
    ),
    C.BREAKER_REOPENED: Wording(
        "Breaker reopened",
        "the probe failed too[, so it is left alone for {limit}]",
        "A probe that fails opens the breaker again, for twice as long.",
    ),
    C.BREAKER_CLOSED: Wording(
        "Breaker closed",
        "the probe was answered",
        "One good answer closes the breaker: the model takes requests as before.",
    ),
    C.ISOLATED: Wording(
        "Isolated",
        "[{by}|somebody] isolated it[: {why}]",
        "A person took the model out of traffic; it stays out until it is let in again.",
    ),
    C.REJOINED: Wording(
        "Rejoined",
        "[{by}|somebody] let it in again",
        "A person ended the isolation of the model.",
    ),
}
