"""Guards: what pulled the wish back towards what is."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

GUARDS: Table = {
    C.SIGNALS_UNKNOWN: Wording(
        "Signals unknown",
        "not all signals are known[ ({missing})]",
        "No data is not zero. While a signal needed for a fall is missing, stale or no number, "
        "the target is not lowered.",
    ),
    C.WINDOW_NOT_COVERED: Wording(
        "Window not covered",
        "only [{seen}|a part] of the window had known signals[ and {limit} are needed]",
        "A fall needs a whole window of known signals; gaps might hide a load.",
    ),
    C.SURVIVORS_WOULD_BREAK: Wording(
        "Survivors would break",
        "with fewer, those that stay would [carry {seen}|be overloaded][ and {limit} is allowed]",
        "One replica fewer would break offered load or a promised wait, so the target holds.",
    ),
    C.STABILISING: Wording(
        "Stabilising",
        "[{highest_wish}|more] were wanted within the last [{window}|minutes]",
        "The target falls only to the highest wish of the stabilisation window, so that a new "
        "replica is not given up before it paid for its own start.",
    ),
    C.COOLING_DOWN: Wording(
        "Cooling down",
        "the last change was [only {seen} ago|recent][ and the cooldown lasts {limit}]",
        "After a change the target holds until the cooldown has passed. "
        "The cooldown survives a restart.",
    ),
    C.STEP_ONLY: Wording(
        "Step limit",
        "one step changes at most [{step}|a few]",
        "Set by policy only: the target moves by limited steps, warm replicas included.",
    ),
    C.COLD_STEP_ONLY: Wording(
        "Cold step",
        "at most [{cold.limit}|a few] may be started cold[ {per}]",
        "Starting many cold replicas at once makes the start of each slower. "
        "Promoting warm ones is cheap and is not limited by this.",
    ),
    C.INVENTORY_UNKNOWN: Wording(
        "Inventory unknown",
        "the list of nodes could not be had[ ({why})][ ({nodes})]",
        "Without knowing the devices nothing is created and nothing given up.",
    ),
    C.NO_DEVICES: Wording(
        "No devices",
        "[it needs {devices} device{devices.s} {per} and there are {devices.limit}"
        "|there are no devices]"
        "[ of class {node_class}]",
        "The cluster was seen and reports no device the model could use.",
    ),
    C.NO_NODES: Wording(
        "No nodes",
        "no node has a card of a class in the catalogue[; {unknown} node{unknown.s} with others]: "
        "kubectl get nodes --show-labels tells what they say",
        "The list of nodes was read, and none belongs to a class. Cards show by the labels their "
        "device plugin or feature discovery sets, and a class says which labels are its own.",
    ),
    C.NO_CLASS_FITS: Wording(
        "No class fits",
        "no node class can run it",
        "Every node class was looked at and refused; the reasons stand beside each.",
    ),
    C.CLASS_SHORT: Wording(
        "Class short",
        "[{node_class}|the class] is short of devices[ and is left alone for {backoff}]",
        "A replica of this class could not be scheduled for a while. The class is left alone "
        "and tried again later; the next replica goes to the next class that fits.",
    ),
    C.NO_DEVICE_FREE: Wording(
        "No device free",
        "no[ {node_class}] device is free[, so {wanted.limit} is all there can be]",
        "Every device that could run one more replica is held by somebody.",
    ),
    C.LOST_TO: Wording(
        "Lost the last device",
        "[{winner}|another model] got the last device[, because {why}]",
        "When several models want the last device, those breaking their promises come first, "
        "then the more important, then those waiting longer per device.",
    ),
}
