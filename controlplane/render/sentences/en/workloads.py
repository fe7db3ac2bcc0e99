"""What stands in a real cluster, and who else lays hands on it."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

WORKLOADS: Table = {
    C.WORKLOAD_CREATED: Wording(
        "Created",
        "[{object}|an object] is missing and is created",
        "A Deployment, Service, disruption budget or image holder the catalogue needs was not "
        "there.",
    ),
    C.WORKLOAD_CHANGED: Wording(
        "Brought up to date",
        "[{object}|an object] is not as the catalogue says and is changed[ ({field})]",
        "The catalogue changed since the object was written. A changed pod template replaces the "
        "pods one at a time.",
    ),
    C.WORKLOAD_DRIFTED: Wording(
        "Drifted",
        "[{by}|somebody else] changed [{field} of |][{object}|an object of ours]",
        "Another field manager wrote into what is ours. It is written over once per interval, "
        "never at once and again: two who disagree must not write at each other all day.",
    ),
    C.WORKLOAD_REFUSED: Wording(
        "Not to be written",
        "[{object}|an object] cannot be written[: {note}]",
        "What the catalogue says cannot be turned into an object; the note says what is missing.",
    ),
    C.ROLLOUT_STUCK: Wording(
        "Rollout stuck",
        "[{object}|an object] was changed and its new pods do not come up[: {note}]",
        "A changed template replaces pods one at a time and never one fewer; without a free "
        "device, or with an engine that does not start, the old pods serve on.",
    ),
    C.WORKLOAD_LEFT: Wording(
        "Left over",
        "the catalogue asks for [{object}|an object] no longer[; {show} takes it away]",
        "What was made for a model, a variant or a class that left the catalogue stays, with its "
        "pods: only a person deletes what may still serve somebody.",
    ),
    C.OWNED_BY_ANOTHER: Wording(
        "Owned by another",
        "[{object}|an object] is [in the hands of {by}|somebody else's][; {show} shows it]",
        "One writer per target: what another writes, or made, is left alone. Take the other away "
        "or adopt the object.",
    ),
    C.DISOWNED: Wording(
        "Nobody's pod",
        "[{replica}|a pod] is kept by no Deployment[ ({note})] and is deleted",
        "A pod that was released, orphaned or has failed holds devices and serves no plan; nobody "
        "else would ever delete it.",
    ),
}
