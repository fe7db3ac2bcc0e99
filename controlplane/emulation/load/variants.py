"""What may stand before the engines: four ways that are compared on the same load."""

from enum import StrEnum


class Variant(StrEnum):
    """One way to let requests in."""

    NONE = "none"  # Envoy straight to the engines, which queue by themselves
    FIFO = "fifo"  # our admission with one unbounded queue
    BUCKET = "bucket"  # Envoy's own token bucket, then straight to the engines
    PRIORITY = "priority"  # our admission


MEANING = {
    Variant.NONE: "Envoy straight to the engines, which queue by themselves",
    Variant.FIFO: "our admission with one unbounded queue without classes",
    Variant.BUCKET: "Envoy's own token bucket at the rate the slots can serve",
    Variant.PRIORITY: "our admission, by class",
}
