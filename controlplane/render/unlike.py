"""What of a ScaledObject or an HPA has no counterpart in a policy: said, never dropped in silence.

Only what would change how the model is scaled is told; how often a source is asked, or what the HPA
is called, is not.
"""

from collections.abc import Iterator
from typing import Any

Tree = dict[str, Any]

PAUSES = "autoscaling.keda.sh/paused"


def unlike_scaled_object(manifest: Tree) -> Iterator[str]:
    """Give what is lost of a ScaledObject, beside its triggers."""
    spec = manifest["spec"]
    advanced = spec.get("advanced", {})
    for name in manifest["metadata"].get("annotations", {}):
        if name.startswith(PAUSES):
            yield (
                f"metadata.annotations.{name}: the policy is not paused: controlplane pause, or "
                "pin, before it acts"
            )
    if "idleReplicaCount" in spec:
        yield "spec.idleReplicaCount: there is no counterpart"
    if not spec.get("minReplicaCount", 0) and "cooldownPeriod" in spec:
        yield (
            f"spec.cooldownPeriod: {spec['cooldownPeriod']} before the last replica goes: it goes "
            "by stabilisation_s like any other"
        )
    if advanced.get("scalingModifiers"):
        yield (
            "spec.advanced.scalingModifiers: a formula over triggers has no counterpart: each "
            "trigger counts by itself"
        )
    config = advanced.get("horizontalPodAutoscalerConfig", {})
    yield from unlike_behavior(
        "spec.advanced.horizontalPodAutoscalerConfig.behavior", config.get("behavior", {})
    )


def unlike_trigger(place: str, trigger: Tree, *, per_replica: bool) -> Iterator[str]:
    """Give what is lost of a trigger that was read; `per_replica` if its number is for each."""
    if per_replica and trigger.get("metricType") == "Value":
        yield (
            f"{place}.metricType: Value is of all replicas together, and depth_target of each: "
            "divide it by the replicas that were meant"
        )
    if "activationThreshold" in trigger["metadata"]:
        yield (
            f"{place}.metadata.activationThreshold: one request is enough to bring the first "
            "replica"
        )


def unlike_hpa(manifest: Tree) -> Iterator[str]:
    """Give what is lost of an HPA, beside its metrics."""
    spec = manifest["spec"]
    if not spec.get("metrics"):
        yield (
            "spec.metrics: none are named, so it goes by the cpu of the host, which says nothing "
            "about accelerators; it is left out"
        )
    yield from unlike_behavior("spec.behavior", spec.get("behavior", {}))


def unlike_behavior(place: str, behavior: Tree) -> Iterator[str]:
    """Give what is lost of the steps and windows."""
    up, down = behavior.get("scaleUp", {}), behavior.get("scaleDown", {})
    if up.get("stabilizationWindowSeconds"):
        yield f"{place}.scaleUp.stabilizationWindowSeconds: a rise does not wait"
    for way, rules in (("scaleUp", up), ("scaleDown", down)):
        if rules.get("selectPolicy", "Max") != "Max":
            chosen = rules["selectPolicy"]
            yield f"{place}.{way}.selectPolicy: {chosen}: the policy that allows most counts"
        if len({policy["periodSeconds"] for policy in rules.get("policies", [])}) > 1:
            yield f"{place}.{way}.policies: have one period here, step_period_s: the longest"
        for at, policy in enumerate(rules.get("policies", [])):
            yield from _unlike_policy(f"{place}.{way}.policies[{at}]", policy, up=way == "scaleUp")


def _unlike_policy(place: str, policy: Tree, *, up: bool) -> Iterator[str]:
    if policy["type"] != "Percent":
        return
    if up and policy["value"] > 100:
        yield f"{place}.value: {policy['value']}: a step is at most the replicas there are"
    if not up and policy["value"] < 100:
        yield f"{place}.value: {policy['value']} percent: a fall is counted in replicas, step_down"
