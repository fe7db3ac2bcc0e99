"""What a ScaledObject asks for, read from its trigger's metadata; what is wrong is one sentence."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NamedTuple, get_args

from controlplane.adapters.keda.generated.externalscaler_pb2 import ScaledObjectRef
from controlplane.domain.catalogue import Catalogue
from controlplane.domain.handover import ScalerMetric
from controlplane.domain.policies import ScalingPolicy
from controlplane.domain.quantities import ClassName, ModelName
from controlplane.render.triggers import target_size

METRIC_KEYS = ("metric", "metricName")  # the second is how older triggers name it
TARGET_KEYS = ("target", "targetValue")
_MOST_TARGET = 2**31
_WHOLE = re.compile(r"[0-9]{1,10}")
_LONGEST = 80


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
    return Asked(name, class_name, known, _size(said, whose, known, model.policy.scaling))


def _size(said: Mapping[str, str], whose: str, metric: ScalerMetric, policy: ScalingPolicy) -> int:
    """Give what it is to be at: as the trigger says, else as the policy does.

    What we decide is a number of replicas, so one is for each: at another size KEDA would carry
    out a part of it.
    """
    for key in TARGET_KEYS:
        if key in said:
            size = int(said[key]) if _WHOLE.fullmatch(said[key]) else 0
            if not 0 < size < _MOST_TARGET:
                rule = "must be a whole number, at least 1"
                raise AskedWrongError(f"{whose}: {key}: {_short(said[key])} {rule}")
            if metric == "target" and size != 1:
                rule = "must be 1 for the metric target: each replica stands for one"
                raise AskedWrongError(f"{whose}: {key}: {_short(said[key])} {rule}")
            return size
    return target_size(metric, policy)


def _unknown(place: str, given: str, known: Iterable[str]) -> str:
    names = [str(name) for name in known]
    close = get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
    return f"{place}: {_short(given)} is not known; {hint}"


def _short(given: str) -> str:
    """Quote what was given; it comes back in a header, which may not be long."""
    return repr(given if len(given) <= _LONGEST else f"{given[:_LONGEST]}…")
