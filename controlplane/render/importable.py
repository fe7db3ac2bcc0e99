"""Whether a manifest can be read as a policy at all; what is wrong with it, field by field.

A file may say anything, and an API server accepts what is no use here. All faults are given at
once, each with its field and its value, so that whoever reads the manifest afterwards may trust it.
"""

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Any, Final

from controlplane.domain.faults import Fault

KINDS: Final = ("ScaledObject", "HorizontalPodAutoscaler")
ABSENT: Final = object()
_POLICIES: Final = ("Pods", "Percent")

Found = Iterator[tuple[str, Any, str]]  # field, what stands there, the rule
Rule = Callable[[str, Any], Found]


def unusable(manifest: Any, source: str) -> tuple[Fault, ...]:
    """Give what keeps a manifest from being read; none when it can be."""
    return tuple(
        Fault(source, None, field, "" if value is ABSENT else _written(value), rule)
        for field, value, rule in _manifest(manifest)
    )


def number(written: Any) -> float | None:
    """Read a quantity above 0; only plain numbers and thousandths are met here."""
    text = str(written)
    scale = 0.001 if text.endswith("m") else 1.0
    try:
        found = float(text.removesuffix("m")) * scale
    except ValueError:
        return None
    return found if isfinite(found) and found > 0 else None


def _written(value: Any) -> str:
    return "null" if value is None else str(value)


def _manifest(manifest: Any) -> Found:
    if not isinstance(manifest, dict):
        yield "", manifest, "is no manifest: a mapping with apiVersion and kind is wanted"
        return
    kind = manifest.get("kind", ABSENT)
    if kind not in KINDS:
        yield "kind", kind, f"cannot be imported: {' or '.join(KINDS)} can"
        return
    yield from _field(manifest, "metadata.name", _text)
    yield from _field(manifest, "metadata.annotations", _tree, wanted=False)
    yield from _field(manifest, "spec", _tree)
    if not isinstance(manifest.get("spec"), dict):
        return
    yield from _field(manifest, "spec.scaleTargetRef.name", _text)
    yield from _field(manifest, "spec.scaleTargetRef.kind", _deployment, wanted=False)
    yield from _scaled_object(manifest) if kind == KINDS[0] else _hpa(manifest)


def _scaled_object(manifest: Any) -> Found:
    yield from _bounds(manifest, ("minReplicaCount", 0, 0), ("maxReplicaCount", 1, 100))
    for field in ("cooldownPeriod", "idleReplicaCount"):
        yield from _field(manifest, f"spec.{field}", _count(0), wanted=False)
    yield from _field(manifest, "spec.fallback", _tree, wanted=False)
    yield from _field(manifest, "spec.advanced", _tree, wanted=False)
    config = "spec.advanced.horizontalPodAutoscalerConfig"
    yield from _field(manifest, config, _tree, wanted=False)
    yield from _field(manifest, f"{config}.behavior", _behavior, wanted=False)
    yield from _field(manifest, "spec.triggers", _each(_trigger, least=1))


def _hpa(manifest: Any) -> Found:
    yield from _bounds(manifest, ("minReplicas", 0, 1), ("maxReplicas", 1, None))
    yield from _field(manifest, "spec.behavior", _behavior, wanted=False)
    yield from _field(manifest, "spec.metrics", _each(_metric), wanted=False)


def _bounds(manifest: Any, low: tuple[str, int, int], high: tuple[str, int, int | None]) -> Found:
    """Check the least and the most, each with its own least and what is taken where none is set."""
    faults = [
        *_field(manifest, f"spec.{low[0]}", _count(low[1]), wanted=False),
        *_field(manifest, f"spec.{high[0]}", _count(high[1]), wanted=high[2] is None),
    ]
    yield from faults
    spec = manifest["spec"]
    least, most = spec.get(low[0], low[2]), spec.get(high[0], high[2])
    if not faults and least > most:
        yield f"spec.{low[0]}", least, f"is above spec.{high[0]}, which is {most}"


def _trigger(place: str, trigger: Any) -> Found:
    faults = [*_tree(place, trigger)]
    yield from faults
    if faults:
        return
    yield from _field(trigger, "type", _text, place=place)
    yield from _field(trigger, "metadata", _tree, place=place)
    metadata = trigger.get("metadata")
    if trigger.get("type") == "prometheus" and isinstance(metadata, dict):
        yield from _field(metadata, "query", _text, place=f"{place}.metadata")
        yield from _field(metadata, "threshold", _amount, place=f"{place}.metadata")


def _metric(place: str, metric: Any) -> Found:
    faults = [*_tree(place, metric)]
    yield from faults
    if faults:
        return
    faults = [*_field(metric, "type", _text, place=place)]
    yield from faults
    if faults:
        return
    of = metric["type"][:1].lower() + metric["type"][1:]
    yield from _field(metric, of, _tree, place=place)
    if not isinstance(metric.get(of), dict):
        return
    if metric["type"] == "Resource":
        yield from _field(metric, f"{of}.name", _text, place=place)
        return
    for part in ("metric", "target"):
        yield from _field(metric, f"{of}.{part}", _tree, wanted=False, place=place)


def _behavior(place: str, behavior: Any) -> Found:
    faults = [*_tree(place, behavior)]
    yield from faults
    for way in () if faults else ("scaleUp", "scaleDown"):
        if way not in behavior:
            continue
        yield from _field(behavior, way, _tree, place=place)
        rules = behavior[way]
        if isinstance(rules, dict):
            inside = f"{place}.{way}"
            window = "stabilizationWindowSeconds"
            yield from _field(rules, window, _count(0), wanted=False, place=inside)
            yield from _field(rules, "policies", _each(_policy), wanted=False, place=inside)


def _policy(place: str, policy: Any) -> Found:
    faults = [*_tree(place, policy)]
    yield from faults
    if faults:
        return
    if policy.get("type", ABSENT) not in _POLICIES:
        yield f"{place}.type", policy.get("type", ABSENT), f"must be {' or '.join(_POLICIES)}"
    for field in ("value", "periodSeconds"):
        yield from _field(policy, field, _count(1), place=place)


def _field(tree: Any, path: str, rule: Rule, *, wanted: bool = True, place: str = "") -> Found:
    """Check one field, named by its path; what is on the way to it counts as absent if it is."""
    value = tree
    for key in path.split("."):
        value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
    where = f"{place}.{path}" if place else path
    if value is not ABSENT:
        yield from rule(where, value)
    elif wanted:
        yield where, ABSENT, "is missing"


def _tree(place: str, value: Any) -> Found:
    if not isinstance(value, dict):
        yield place, value, "must be a mapping"


def _text(place: str, value: Any) -> Found:
    if not isinstance(value, str) or not value.strip():
        yield place, value, "must be text"


def _amount(place: str, value: Any) -> Found:
    if isinstance(value, bool) or number(value) is None:
        yield place, value, "must be a number above 0"


def _deployment(place: str, value: Any) -> Found:
    if value != "Deployment":
        yield place, value, "cannot be taken over: only a Deployment can"


def _count(least: int) -> Rule:
    def rule(place: str, value: Any) -> Found:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            yield place, value, f"must be a whole number, at least {least}"

    return rule


def _each(rule: Rule, least: int = 0) -> Rule:
    def of_list(place: str, value: Any) -> Found:
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) < least:
            yield place, value, "must be a list" if not least else "must be a list of one or more"
            return
        for at, item in enumerate(value):
            yield from rule(f"{place}[{at}]", item)

    return of_list
