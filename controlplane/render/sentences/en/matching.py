"""Matching models with node classes, and placement."""

from controlplane.domain.reasons import ReasonCode as C
from controlplane.render.sentences.wording import Table, Wording

MATCHING: Table = {
    C.FITS: Wording(
        "Fits",
        "it fits[ on {devices} device{devices.s}][ and needs {seen}][ of {limit}]",
        "Weights, KV cache and overhead fit into the usable memory of the devices.",
    ),
    C.TOO_SMALL: Wording(
        "Too small",
        "it needs [{seen}|more memory][ and there are {limit}]",
        "Even with the most devices allowed, the memory is smaller than the model's need.",
    ),
    C.NO_VARIANT: Wording(
        "Not considered",
        "the catalogue names no variant for this class",
        "A model runs only on classes its catalogue entry names.",
    ),
    C.RUNTIME_DIFFERS: Wording(
        "Other runtime",
        "its image is built for [{built}|another runtime][ and the class runs {supported}]",
        "An image built for CUDA does not run on CANN, and the other way round.",
    ),
    C.RUNTIME_TOO_NEW: Wording(
        "Runtime too new",
        "its image is built for [{built}|a newer runtime]"
        "[ and the class supports up to {supported}]",
        "The image needs a newer runtime than the class's drivers support.",
    ),
    C.PAIR_DENIED: Wording(
        "Pair denied",
        "this model must not run on [{runtime}|this runtime][: {reason}]",
        "This exact pair of model and runtime version is listed as denied.",
    ),
    C.PAIR_TESTED: Wording(
        "Pair tested",
        "this model was tested on [{runtime}|this runtime]",
        "This exact pair of model and runtime version is listed as tested.",
    ),
    C.BIGGER_THAN_NEEDED: Wording(
        "Bigger than needed",
        "the device is bigger than needed[: {seen} of {limit}][, {sufficient} would do]",
        "It runs, but a cheaper class would do; the difference shows as stranded memory.",
    ),
    C.SQUATTING: Wording(
        "Squatting",
        "it holds a[ {node_class}] device that [{waiting}|a bigger model] waits for",
        "A small model sits on a big device another model waits for. "
        "It grows elsewhere, drains, and frees the device.",
    ),
}
