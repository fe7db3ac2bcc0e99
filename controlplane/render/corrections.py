"""What is wrong with ScaledObjects as people write them, put right; each change says why.

The faults are those of two field reports and of many an issue tracker. A correction is only made
where its meaning is certain; whatever else stands there is left alone. The order matters: names
first, for the rules after them know metrics by their true names.
"""

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from controlplane.render.naming import Manifest


class Correction(NamedTuple):
    """One thing that was changed: where, what stood there, what stands there now, and why."""

    field: str
    was: str
    now: str
    why: str


NAMES = {
    "vllm_num_requests_waiting": "vllm:num_requests_waiting",
    "vllm_num_requests_running": "vllm:num_requests_running",
    "vllm_request_latency_seconds": "vllm:e2e_request_latency_seconds",
}
_COUNTED = ("_total", "_bucket", "_count", "_sum")
_SELECTOR = r"(?P<metric>[a-zA-Z_:][\w:]*)(?P<labels>\{[^{}]*\})?"
_RATE_OF = re.compile(rf"\b(?:rate|irate|increase)\(\s*{_SELECTOR}\s*\[(?P<window>\w+)\]\s*\)")
_UNSUMMED = re.compile(
    rf"histogram_quantile\(\s*(?P<q>[\d.]+)\s*,\s*(?P<rate>rate\(\s*{_SELECTOR}\s*\[\w+\]\s*\))\s*\)"
)
_MEAN = re.compile(r"^\s*(?:avg|histogram_quantile|quantile|max|min)\b")


def corrected(scaled_object: Manifest) -> tuple[Manifest, tuple[Correction, ...]]:
    """Give a ScaledObject with its known faults put right, and what was changed."""
    right = copy.deepcopy(scaled_object)
    made = [correction for rule in RULES for correction in rule(right)]
    return right, tuple(made)


def summed_by_le(query: str) -> str:
    """Give a percentile of all pods together, where a query asks for one of each."""
    return _UNSUMMED.sub(r"histogram_quantile(\g<q>, sum by (le) (\g<rate>))", query)


def _quoted(manifest: Manifest) -> Iterator[Correction]:
    """Metadata is text: the CRD refuses numbers and switches."""
    for place, trigger in _triggers(manifest):
        for key, value in trigger.get("metadata", {}).items():
            if not isinstance(value, str):
                text = str(value).lower() if isinstance(value, bool) else f"{value}"
                trigger["metadata"][key] = text
                why = "metadata is text: the CRD refuses anything else"
                yield Correction(f"{place}.metadata.{key}", repr(value), f'"{text}"', why)


def _unknown_strategy(manifest: Manifest) -> Iterator[Correction]:
    """`scalingStrategy` belongs to ScaledJobs."""
    advanced = manifest["spec"].get("advanced", {})
    if "scalingStrategy" in advanced:
        was = str(advanced.pop("scalingStrategy"))
        why = "the CRD does not know it: it belongs to ScaledJob; the threshold says it"
        yield Correction("spec.advanced.scalingStrategy", was, "", why)


def _metric_name(manifest: Manifest) -> Iterator[Correction]:
    """A Prometheus trigger's `metricName` was removed in KEDA 2.12."""
    for place, trigger in _triggers(manifest):
        if trigger.get("type") != "prometheus" or "metricName" not in trigger["metadata"]:
            continue
        was = trigger["metadata"].pop("metricName")
        name = re.sub(r"[^a-z0-9-]+", "-", was.lower()).strip("-")
        trigger.setdefault("name", name)
        why = "KEDA ignores metricName since 2.12: a trigger has a name"
        yield Correction(f"{place}.metadata.metricName", was, f"name: {trigger['name']}", why)


def _true_names(manifest: Manifest) -> Iterator[Correction]:
    """The names of vLLM have a colon."""
    for place, trigger in _queries(manifest):
        was = trigger["metadata"]["query"]
        now = was
        for wrong, right in NAMES.items():
            now = re.sub(rf"\b{wrong}(?=_bucket|_count|_sum|\b)", right, now)
        yield from _changed(place, trigger, now, "no engine exports that name")


def _exported_labels(manifest: Manifest) -> Iterator[Correction]:
    """Prometheus renames an exporter's own `namespace` and `pod` unless honorLabels is set."""
    for place, trigger in _queries(manifest):
        now = re.sub(
            r"(DCGM_\w+\{[^{}]*?)\b(?<!exported_)(namespace|pod|container)(\s*=)",
            r"\1exported_\2\3",
            trigger["metadata"]["query"],
        )
        why = "without honorLabels `namespace` is the exporter's; the pod's is exported_namespace"
        yield from _changed(place, trigger, now, why)


def _rate_of_a_gauge(manifest: Manifest) -> Iterator[Correction]:
    """A gauge that stays at 50 has rate 0; one that falls counts as a reset."""

    def mean(found: re.Match[str]) -> str:
        metric = found["metric"]
        if metric.endswith(_COUNTED):
            return found[0]
        return f"avg_over_time({metric}{found['labels'] or ''}[{found['window']}])"

    for place, trigger in _queries(manifest):
        now = _RATE_OF.sub(mean, trigger["metadata"]["query"])
        why = "a gauge has no rate: a queue that stays at 50 would read as 0"
        yield from _changed(place, trigger, now, why)


def _sum_by_le(manifest: Manifest) -> Iterator[Correction]:
    """A percentile of each pod is one series a pod, and KEDA wants exactly one."""
    for place, trigger in _queries(manifest):
        now = summed_by_le(trigger["metadata"]["query"])
        why = "without sum by (le) there is one series a pod: returned multiple elements"
        yield from _changed(place, trigger, now, why)


def _value_of_a_mean(manifest: Manifest) -> Iterator[Correction]:
    """A mean is not shared among the replicas."""
    for place, trigger in _queries(manifest):
        if _MEAN.match(trigger["metadata"]["query"]) and trigger.get("metricType") != "Value":
            was = trigger.get("metricType", "AverageValue (the default)")
            trigger["metricType"] = "Value"
            why = "AverageValue divides by the replicas: 90 % at 4 pods would scale to 2"
            yield Correction(f"{place}.metricType", was, "Value", why)


def _nulls(manifest: Manifest) -> Iterator[Correction]:
    """By default a broken exporter reads as 0."""
    for place, trigger in _queries(manifest):
        if trigger["metadata"].get("ignoreNullValues", "true") != "false":
            trigger["metadata"]["ignoreNullValues"] = "false"
            why = "by default a broken exporter reads as 0, and replicas are taken away"
            yield Correction(f"{place}.metadata.ignoreNullValues", "true", "false", why)


def _activation(manifest: Manifest) -> Iterator[Correction]:
    """Activation is about the way from zero alone."""
    if manifest["spec"].get("minReplicaCount", 0) < 1:
        return
    for place, trigger in _triggers(manifest):
        if "activationThreshold" in trigger.get("metadata", {}):
            was = trigger["metadata"].pop("activationThreshold")
            why = "it acts between 0 and 1 replica only, and there never are 0"
            yield Correction(f"{place}.metadata.activationThreshold", was, "", why)


def _cooldown(manifest: Manifest) -> Iterator[Correction]:
    """What is meant by `cooldownPeriod` is the window before a fall."""
    spec = manifest["spec"]
    if spec.get("minReplicaCount", 0) < 1 or "cooldownPeriod" not in spec:
        return
    was = spec.pop("cooldownPeriod")
    config = spec.setdefault("advanced", {}).setdefault("horizontalPodAutoscalerConfig", {})
    down = config.setdefault("behavior", {}).setdefault("scaleDown", {})
    down.setdefault("stabilizationWindowSeconds", was)
    place = "behavior.scaleDown.stabilizationWindowSeconds"
    why = "cooldownPeriod governs the way to 0 alone; the window of the HPA is what was meant"
    now = f"{place}: {down['stabilizationWindowSeconds']}"
    yield Correction("spec.cooldownPeriod", str(was), now, why)


def _fallback(manifest: Manifest) -> Iterator[Correction]:
    """Without a fallback a source that fails leaves the number to chance; at zero it is reversed.

    Where there may be no replica KEDA leaves alone what has no fallback, and takes all away where
    it is one of 0 replicas.
    """
    spec = manifest["spec"]
    least = spec.get("minReplicaCount", 0)
    if not least and spec.get("fallback", {}).get("replicas") == 0:
        del spec["fallback"]
        why = "where there may be no replica, KEDA takes all away when the source fails"
        yield Correction("spec.fallback.replicas", "0", "no fallback", why)
    if not least or "fallback" in spec or not list(_queries(manifest)):
        return
    behavior = "currentReplicasIfHigher"
    spec["fallback"] = {"failureThreshold": 3, "replicas": least, "behavior": behavior}
    why = "when the source fails, what is there stays"
    yield Correction("spec.fallback", "", behavior, why)


RULES: tuple[Callable[[Manifest], Iterator[Correction]], ...] = (
    _quoted,
    _unknown_strategy,
    _metric_name,
    _true_names,
    _exported_labels,
    _rate_of_a_gauge,
    _sum_by_le,
    _value_of_a_mean,
    _nulls,
    _activation,
    _cooldown,
    _fallback,
)


def _triggers(manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, trigger in enumerate(manifest["spec"].get("triggers", [])):
        yield f"spec.triggers[{number}]", trigger


def _queries(manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, trigger in _triggers(manifest):
        if trigger.get("type") == "prometheus" and "query" in trigger.get("metadata", {}):
            yield place, trigger


def _changed(place: str, trigger: dict[str, Any], now: str, why: str) -> Iterator[Correction]:
    was = trigger["metadata"]["query"]
    if now != was:
        trigger["metadata"]["query"] = now
        yield Correction(f"{place}.metadata.query", was, now, why)
