"""A ScaledObject or an HPA read as a policy that behaves the same, and what is better without it.

What has no counterpart is said, never dropped in silence. Rules that would act besides what is
imported are switched off, so that the policy is a copy; the notes say which are worth switching on.
"""

import re
from typing import Any

import msgspec

from controlplane.render.corrections import corrected
from controlplane.render.importable import number
from controlplane.render.naming import Manifest
from controlplane.render.unlike import unlike_hpa, unlike_scaled_object, unlike_trigger

Tree = dict[str, Any]

KEDA_MOST = 100
HPA_WINDOW_S = 300
_DEPTH = re.compile(r"waiting|queue|pending|backlog|depth", re.IGNORECASE)
_KV = re.compile(r"cache_usage|token_usage|kv_cache", re.IGNORECASE)
_BUSY = re.compile(r"GPU_UTIL|GR_ENGINE_ACTIVE|npu_chip_info_utilization", re.IGNORECASE)
OFF: Tree = {
    "drain_limit_s": None,
    "p99": False,
    "watermark": None,
    "offered_ceiling": None,
    "turned_away": False,
    "utilisation_ceiling": None,
}
GAINS = (
    "scale up before a queue forms: offered_ceiling (arrivals x service time against the slots)",
    "scale up on what a queue means, not on its length: drain_limit_s",
    "scale up at once when a request is turned away: turned_away",
    "keep spares that serve within seconds instead of a cold start: spare.count",
    "never scale down while a signal is missing, or where the rest would break an objective",
    "let a stream end before its replica goes: always",
)


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What was read."""

    kind: str
    name: str
    target: str  # the Deployment it scales
    policy: Tree  # what to put under a model's `policy`
    lacking: tuple[str, ...]  # what has no counterpart
    faults: tuple[str, ...]  # what is wrong with it as it stands
    gains: tuple[str, ...] = GAINS


def imported(manifest: Manifest) -> Imported:
    """Read one manifest that `unusable` finds no fault with."""
    return _scaled_object(manifest) if manifest["kind"] == "ScaledObject" else _hpa(manifest)


def _scaled_object(manifest: Manifest) -> Imported:
    right, made = corrected(manifest)
    spec = right["spec"]
    config = spec.get("advanced", {}).get("horizontalPodAutoscalerConfig", {})
    scaling: Tree = {
        "min": spec.get("minReplicaCount", 0),
        "max": spec.get("maxReplicaCount", KEDA_MOST),
        **OFF,
        **_behavior(config.get("behavior", {})),
    }
    policy: Tree = {"scaling": scaling}
    lacking = [*unlike_scaled_object(right)]
    for at, trigger in enumerate(spec.get("triggers", [])):
        lacking += _trigger(f"spec.triggers[{at}]", trigger, policy)
    return Imported(
        kind="ScaledObject",
        name=manifest["metadata"]["name"],
        target=spec["scaleTargetRef"]["name"],
        policy=policy,
        lacking=tuple(lacking),
        faults=tuple(f"{c.field}: {c.was or 'missing'}: {c.why}" for c in made),
    )


def _hpa(manifest: Manifest) -> Imported:
    spec = manifest["spec"]
    scaling: Tree = {
        "min": spec.get("minReplicas", 1),
        "max": spec["maxReplicas"],
        **OFF,
        **_behavior(spec.get("behavior", {})),
    }
    policy: Tree = {"scaling": scaling}
    lacking = [*unlike_hpa(manifest)]
    for at, metric in enumerate(spec.get("metrics", [])):
        lacking += _metric(f"spec.metrics[{at}]", metric, policy)
    return Imported(
        kind="HorizontalPodAutoscaler",
        name=manifest["metadata"]["name"],
        target=spec["scaleTargetRef"]["name"],
        policy=policy,
        lacking=tuple(lacking),
        faults=(),
    )


def _behavior(behavior: Tree) -> Tree:
    """Read steps and window; what is left out has the HPA's own defaults."""
    up, down = behavior.get("scaleUp", {}), behavior.get("scaleDown", {})
    read: Tree = {"stabilisation_s": down.get("stabilizationWindowSeconds", HPA_WINDOW_S)}
    periods: list[int] = []
    pods = [p for p in up.get("policies", []) if p["type"] == "Pods"]
    shares = [p for p in up.get("policies", []) if p["type"] == "Percent"]
    if not up.get("policies"):
        read |= {"cold_step_share": 1.0, "cold_step_min": 4}
    elif pods and not shares:
        read["step_up"] = max(p["value"] for p in pods)
        periods += [p["periodSeconds"] for p in pods]
    else:
        read["cold_step_share"] = min(1.0, max(p["value"] for p in shares) / 100)
        read["cold_step_min"] = max((p["value"] for p in pods), default=1)
        periods += [p["periodSeconds"] for p in shares]
    fewer = [p for p in down.get("policies", []) if p["type"] == "Pods"]
    if fewer:
        read["step_down"] = max(p["value"] for p in fewer)
        periods += [p["periodSeconds"] for p in fewer]
    if periods:
        read["step_period_s"] = max(periods)
    return read


def _trigger(place: str, trigger: Tree, policy: Tree) -> list[str]:
    """Read one trigger into the policy; give what could not be read."""
    kind, metadata = trigger.get("type"), trigger.get("metadata", {})
    if kind == "prometheus":
        threshold = number(metadata.get("threshold", ""))
        if _never(metadata.get("query", ""), threshold):
            return [f"{place}.metadata.threshold: {threshold:g} percent is never reached: left out"]
        if threshold is not None and _query(metadata.get("query", ""), threshold, policy):
            per_replica = _reads_depth(metadata["query"])
            return [*unlike_trigger(place, trigger, per_replica=per_replica)]
        return [f"{place}: nothing like {metadata.get('query')!r}; see models.NAME.queries"]
    if kind in {"external", "external-push"}:
        return [f"{place}: what {metadata.get('scalerAddress')} decides on is not known here"]
    return [f"{place}: a trigger of type {kind} has no counterpart"]


def _query(query: str, threshold: float, policy: Tree) -> bool:
    scaling = policy["scaling"]
    if "histogram_quantile" in query:
        limits = {"wait_p99_s": threshold, "latency_p99_s": threshold}
        policy["objectives"] = dict.fromkeys(("high", "medium", "low"), limits)
        scaling["p99"] = True
    elif _BUSY.search(query):
        share = threshold / 100 if threshold > 1 else threshold
        scaling |= {"utilisation_ceiling": share, "utilisation_alone": True}
    elif _KV.search(query):
        scaling["watermark"] = threshold / 100 if threshold > 1 else threshold
    elif _DEPTH.search(query):
        scaling |= {"depth_target": threshold, "depth_alone_falls": True}
    else:
        return False
    return True


def _never(query: str, threshold: float | None) -> bool:
    """Say whether a share is waited for that is more than the whole."""
    is_share = bool(_BUSY.search(query) or _KV.search(query))
    return is_share and threshold is not None and threshold > 100


def _reads_depth(query: str) -> bool:
    """Say whether `_query` takes it for a queue."""
    return not any(("histogram_quantile" in query, _BUSY.search(query), _KV.search(query)))


def _metric(place: str, metric: Tree, policy: Tree) -> list[str]:
    kind = metric.get("type", "")
    if kind == "Resource":
        name = metric["resource"]["name"]
        return [f"{place}: {name} of the host says nothing about accelerators; it is left out"]
    of = metric.get(kind[:1].lower() + kind[1:], {})
    target, name = of.get("target", {}), of.get("metric", {}).get("name", "")
    threshold = number(target.get("averageValue", target.get("value", "")))
    if _never(name, threshold):
        return [f"{place}: {threshold:g} percent of {name} is never reached: left out"]
    if threshold is not None and _query(name, threshold, policy):
        return []
    return [f"{place}: nothing like the metric {name!r}; see models.NAME.queries"]
