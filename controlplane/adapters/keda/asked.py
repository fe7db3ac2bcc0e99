"""What a ScaledObject asks for, read from its trigger's metadata; what is wrong is one sentence."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NamedTuple, get_args

from controlplane.adapters.keda.generated.externalscaler_pb2 import ScaledObjectRef
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.handover import ScalerMetric
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.render.triggers import target_size

METRIC_KEYS = ("metric", "metricName")  # the second is how older triggers name it
TARGET_KEYS = ("target", "targetValue")
_MOST_TARGET = 2**31


class AskedWrongError(ValueError):
    """The trigger's metadata is wrong; the text is one sentence that names field and value."""


class Asked(NamedTuple):
    """One metric of one variant, and what it should be at."""

    model: ModelName
    node_class: ClassName
    metric: ScalerMetric
    size: int


def asked(reference: ScaledObjectRef, catalogue: Catalogue) -> Asked:
    """Read it; AskedWrongError says what is wrong and what may have been meant."""
    said = reference.scalerMetadata
    whose = f"ScaledObject {reference.namespace}/{reference.name}"
    name = ModelName(said.get("model", ""))
    model = catalogue.models.get(name)
    if model is None:
        raise AskedWrongError(_unknown(f"{whose}: model", name, catalogue.models))
    class_name = ClassName(said.get("class", next(iter(model.variants))))
    if class_name not in model.variants:
        raise AskedWrongError(_unknown(f"{whose}: class", class_name, model.variants))
    key = next((key for key in METRIC_KEYS if key in said), METRIC_KEYS[0])
    metric = said.get(key, "target")
    if metric not in get_args(ScalerMetric):
        raise AskedWrongError(_unknown(f"{whose}: {key}", metric, get_args(ScalerMetric)))
    known: ScalerMetric = metric
    size = target_size(known, model.policy.scaling)
    return Asked(name, class_name, known, _size(said, whose) or size)


def _size(said: Mapping[str, str], whose: str) -> int | None:
    for key in TARGET_KEYS:
        if key in said:
            try:
                size = round(float(said[key]))
            except (ValueError, OverflowError):
                size = 0
            if not 0 < size < _MOST_TARGET:
                raise AskedWrongError(f"{whose}: {key}: {said[key]!r} must be a number above 0")
            return size
    return None


def _unknown(place: str, given: str, known: Iterable[str]) -> str:
    names = [str(name) for name in known]
    close = get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
    return f"{place}: {given!r} is not known; {hint}"
