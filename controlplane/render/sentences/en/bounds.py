"""Bounds, people's orders, and the spread over node classes."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

BOUNDS: Table = {
    C.BELOW_MINIMUM: Wording(
        "Below minimum",
        "[{limit} is the minimum|it is below its minimum]",
        "Bounds come last on every path: the target is never below the model's minimum.",
    ),
    C.ABOVE_MAXIMUM: Wording(
        "Above maximum",
        "[{limit} is the maximum|it is above its maximum]",
        "Bounds come last on every path: the target is never above the model's maximum.",
    ),
    C.PINNED: Wording(
        "Pinned",
        "[{by} pinned it|it is pinned][ to {limit}]",
        "A person fixed the target by hand; rules still speak but do not move it.",
    ),
    C.PAUSED: Wording(
        "Paused",
        "[{by} paused it|it is paused]",
        "A person paused acting: decisions are made and shown, nothing is done.",
    ),
    C.SURVIVES_ZONE: Wording(
        "Survives a zone",
        "[{margin} more|more] are kept so that the rest holds when the fullest[ of {zones}] zones "
        "is lost[, for {price}]",
        "Set by policy: with the fullest zone gone, the replicas left still keep every promise. "
        "The price is that of the replicas kept for this alone.",
    ),
    C.SPILLED: Wording(
        "Spilled over",
        "[{instead_of} is short|a cheaper class is short], so the next class takes over"
        "[: {counts}]",
        "The cheaper class has no device left, so the next class that fits takes the replica.",
    ),
    C.CAME_BACK: Wording(
        "Came back",
        "[{to}|the cheaper class] has devices again",
        "A replica that had spilled over returns to the cheaper class.",
    ),
    C.GIVEN_UP: Wording(
        "Given up",
        "[{from}|one class] is given up for [{to}|another]",
        "Replicas leave a class another model needs, and grow on another first.",
    ),
    C.CLASS_LEFT: Wording(
        "Class left",
        "[{replicas} stay|what is there stays][ on {node_class}], though it is offered no longer",
        "The catalogue no longer offers this class to the model: what serves there serves on until "
        "another class has room.",
    ),
}
